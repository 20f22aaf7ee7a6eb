x = []
for i in range(200000): x = [x]
x = None
1/0