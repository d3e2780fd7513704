"""Documents from suppliers: checked, acknowledged, stored; and buyers' approvals of our receipts
(authority.md#receivers).
"""
