"""Documentation pages for developers: the guide, the catalogue of fields, examples.

Every page is there in English and Spanish, as HTML and as plain Markdown beside it, without a script and without
anything from another host. The pages are fixed, so each is made once, at its first request.
"""
