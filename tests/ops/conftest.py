import sys
from pathlib import Path

# The dashboards' source is no part of the package that is installed, so it is found only from here.
sys.path.append(str(Path(__file__).resolve().parent.parent.parent))
