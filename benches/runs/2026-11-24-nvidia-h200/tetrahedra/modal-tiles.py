import numpy as np
from scipy.special import eval_jacobi, roots_jacobi
from itertools import product
def modes(N):
    return [(i,j,k) for i in range(N+1) for j in range(N+1-i) for k in range(N+1-i-j)]
def evalmodes(N,a,b,c):
    out=[]
    for i,j,k in modes(N):
        out.append(eval_jacobi(i,0,0,a)*((1-b)/2)**i*eval_jacobi(j,2*i+1,0,b)*((1-c)/2)**(i+j)*eval_jacobi(k,2*(i+j)+2,0,c))
    return np.array(out)
def quad(n):
    xa,wa=roots_jacobi(n,0,0); xb,wb=roots_jacobi(n,1,0); xc,wc=roots_jacobi(n,2,0)
    A,B,C=np.meshgrid(xa,xb,xc,indexing='ij'); W=wa[:,None,None]*wb[None,:,None]*wc[None,None,:]
    return A.ravel(),B.ravel(),C.ravel(),W.ravel()/64*8/8
def grad(N):
    n=N+2; a,b,c,w=quad(n)
    # reference coords
    t=c; s=(1+b)*(1-c)/2-1; r=(1+a)*(1-b)*(1-c)/4-1
    P=evalmodes(N,a,b,c); norm=np.sqrt((P**2*w).sum(1)); P/=norm[:,None]
    # derivative by solving in monomials: use finite complex step via polynomial fit: Vandermonde in r,s,t monomials
    mon=[(i,j,k) for i in range(N+1) for j in range(N+1-i) for k in range(N+1-i-j)]
    from numpy.polynomial import legendre as L
    def V(r,s,t,d=None):
        cols=[]
        for i,j,k in mon:
            f=[]
            for e,x,ax in((i,r,0),(j,s,1),(k,t,2)):
                cc=np.zeros(e+1); cc[e]=1
                if d==ax: cc=L.legder(cc)
                f.append(L.legval(x,cc))
            cols.append(f[0]*f[1]*f[2])
        return np.array(cols)
    V0=V(r,s,t)
    coef=np.linalg.lstsq((V0*np.sqrt(w)).T,(P*np.sqrt(w)).T,rcond=None)[0]  # mon x modes
    D=[]
    low=[m for m,(i,j,k) in enumerate(modes(N)) if i+j+k<N]
    for d in range(3):
        dP=(coef.T@V(r,s,t,d))
        M=(P*w)@dP.T   # row=test mode
        D.append(M[low])
    return D,low
def tiles(M,tol=1e-6):
    R,C=M.shape; cnt=0
    for i in range(0,R,8):
        for j in range(0,C,8):
            if np.abs(M[i:i+8,j:j+8]).max()>tol: cnt+=1
    return cnt, -(-R//8)*-(-C//8)
for N in range(3,9):
    D,low=grad(N); ms=modes(N); lm=[ms[m] for m in low]
    Np=len(ms); full=((Np+7)//8)**2
    best=None
    keys={'ijk':lambda m:m,'deg':lambda m:(sum(m),)+m,'ij+k':lambda m:(m[0]+m[1],m),'kji':lambda m:m[::-1],'jik':lambda m:(m[1],m[0],m[2]),'i,deg':lambda m:(m[0],sum(m),m),'parity':lambda m:(m[0]%2,m),'i+j':lambda m:(m[0]+m[1],m[0],m[2])}
    # combos: axes' combos (d/dr, d/ds', d/dt') may be linear combos: barycentric derivative combos
    for name,k in keys.items():
        pc=sorted(range(Np),key=lambda n:k(ms[n])); pr=sorted(range(len(lm)),key=lambda n:k(lm[n]))
        tot=0;nz=0;den=0
        for M in D:
            a,b=tiles(M[np.ix_(pr,pc)]); tot+=a; den+=b; nz+=(np.abs(M)>1e-6).sum()
        cur=2*den+full; new=2*tot+2*full
        if best is None or new<best[0]: best=(new,name,tot,den,cur,nz)
    print(N,'now',best[4],'modal',best[0],'by',best[1],'tiles',best[2],'of',best[3],'nonzeros %.2f'%(best[5]/(3*D[0].size)), 'gain %.2f'%(best[4]/best[0]), 'without mass: now',2*best[3],'gain %.2f'%(2*best[3]/best[0]))
