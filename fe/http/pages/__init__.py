"""What the service serves for people who write programs: the guide, the catalogue of fields, examples.

Every page is there in English and Spanish, as HTML and as plain Markdown beside it, without a script and without
anything from another host. What there is is fixed, so each page is made once, when it is first asked for.
"""
