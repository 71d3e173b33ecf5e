"""HyperDoc2Vec: each paper has a vector as the text that cites, and one as what is cited.

Han et al., hyperdoc2vec: Distributed Representations of Hypertext Documents (ACL 2018). New papers
can be added to trained vectors.
"""
