"""One file per thing a chat model is asked: the words, the form of the reply, and what makes a reply valid."""
