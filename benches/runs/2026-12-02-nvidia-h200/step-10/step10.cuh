#include <cstdio>
#include <cuda_runtime.h>
#ifndef LB
#define LB(t)
#endif
template <int Np, int Ne, int Nb>
__global__ void LB(Np *Nb) step10(const int E, const float *__restrict__ ggeo, const float *__restrict__ Srr,
    const float *__restrict__ Srs, const float *__restrict__ Srt, const float *__restrict__ Sss,
    const float *__restrict__ Sst, const float *__restrict__ Stt, const float *__restrict__ MM, const float lambda,
    const float *__restrict__ q, float *__restrict__ Aq)
{
    __shared__ float s_q[Ne][Nb][Np];
    const int n = threadIdx.x, b = threadIdx.y;
    const int base = blockIdx.x * Ne * Nb;
#pragma unroll
    for (int t = 0; t < Ne; ++t) {
        const int e = base + t * Nb + b;
        if (e < E) s_q[t][b][n] = q[n + e * Np];
    }
    __syncthreads();
    float rr[Ne], rs[Ne], rt[Ne], ss[Ne], st[Ne], tt[Ne], mm[Ne];
#pragma unroll
    for (int t = 0; t < Ne; ++t) rr[t] = rs[t] = rt[t] = ss[t] = st[t] = tt[t] = mm[t] = 0;
#ifdef UN
#pragma unroll UN
#else
#pragma unroll
#endif
    for (int k = 0; k < Np; ++k) {
        const float a = Srr[n + k * Np], c = Srs[n + k * Np], d = Srt[n + k * Np], f = Sss[n + k * Np],
                    g = Sst[n + k * Np], h = Stt[n + k * Np], m = MM[n + k * Np];
#pragma unroll
        for (int t = 0; t < Ne; ++t) {
            const float u = s_q[t][b][k];
            rr[t] += a * u; rs[t] += c * u; rt[t] += d * u; ss[t] += f * u; st[t] += g * u; tt[t] += h * u; mm[t] += m * u;
        }
    }
#pragma unroll
    for (int t = 0; t < Ne; ++t) {
        const int e = base + t * Nb + b;
        if (e < E) {
            const float *G = ggeo + e * 7;
            Aq[n + e * Np] = G[0] * rr[t] + G[1] * rs[t] + G[2] * rt[t] + G[3] * ss[t] + G[4] * st[t] + G[5] * tt[t] + G[6] * lambda * mm[t];
        }
    }
}
template <int Np, int Ne, int Nb> void go(const char *mode, int E, float *geo, float *S, float *q, float *v)
{
    const int blocks = (E + Ne * Nb - 1) / (Ne * Nb);
    cudaEvent_t a, z;
    cudaEventCreate(&a); cudaEventCreate(&z);
    auto run = [&] { step10<Np, Ne, Nb><<<blocks, dim3(Np, Nb)>>>(E, geo, S, S + Np * Np, S + 2 * Np * Np, S + 3 * Np * Np, S + 4 * Np * Np, S + 5 * Np * Np, S + 6 * Np * Np, 1.f, q, v); };
    run(); cudaDeviceSynchronize();
    float best = 1e9;
    for (int r = 0; r < 5; ++r) {
        cudaEventRecord(a);
        for (int i = 0; i < 20; ++i) run();
        cudaEventRecord(z); cudaEventSynchronize(z);
        float ms; cudaEventElapsedTime(&ms, a, z);
        if (ms / 20 < best) best = ms / 20;
    }
    cudaFuncAttributes at; cudaFuncGetAttributes(&at, step10<Np, Ne, Nb>);
    if (cudaGetLastError() == cudaSuccess)
        printf("%s,%d,%d,%d,%.1f,%d,%zu\n", mode, Np, Ne, Nb, (double)E * Np / best * 1e-6, at.numRegs, at.localSizeBytes);
}
