x = 'ab' * 1000
for i in range(10000): x = x.replace('a', 'aaaa')