"""What is handed to others: a published channel, vendored folders, the files of a release."""
