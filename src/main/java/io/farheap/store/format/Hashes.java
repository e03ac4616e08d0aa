package io.farheap.store.format;

/** Hashes of keys, in which each bit of the key changes all 64 bits. */
public final class Hashes {

    private Hashes() {}

    /** A bijection: the finaliser of a 64-bit generator (Stafford's variant 13). */
    public static long of(long key) {
        long z = (key ^ key >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return z ^ z >>> 31;
    }
}
