#include "q.h"

int first(int n)
{
	long sum = 0;
	int k = 0;

	for (int i = 0; i < n; i++)
		sum += weight(i);
	return sum;
}

int second(int n)
{
	int sum = 1;

	for (int i = 1; i < n; i++)
		sum *= weight(i);
	return sum;
}
