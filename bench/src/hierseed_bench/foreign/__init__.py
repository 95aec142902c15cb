"""Foreign documents: does a method notice documents that belong to no listed topic?"""
