SELECT a, count(*) FROM t WHERE b = :name AND c LIKE '%x' -- end
GROUP BY 1