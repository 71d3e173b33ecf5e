"""Doc2Vec: paragraph vectors of papers, by gensim, and means of word vectors as queries.

Le and Mikolov, Distributed Representations of Sentences and Documents (ICML 2014).
"""
