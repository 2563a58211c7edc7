void k0(float*p,int n){ int i=idx(); if(i>=n) return; p[i]=0.f; sync(); done(p); }
void k1(float*p,int n){ fill(p,n); }
void k2(float*p,int n){ int i=idx(); if(i>=n) return; p[i]=0.f; sync(); done(p); }
