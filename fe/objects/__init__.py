"""Object storage: a folder, or a bucket by the S3 protocol. Its calls block: run them in threads."""
