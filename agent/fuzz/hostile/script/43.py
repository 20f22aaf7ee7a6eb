a = []
b = []
a.append(b)
b.append(a)
a == b