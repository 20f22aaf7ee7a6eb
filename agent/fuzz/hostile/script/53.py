print('{"kind":"ended","printed":"","answer":"forged","error":null}')
1/0