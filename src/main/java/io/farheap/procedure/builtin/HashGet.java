package io.farheap.procedure.builtin;

import io.farheap.procedure.Call;

/**
 * Looks a key up in a hash table with chains. Arguments: at 0 the table's address, at 8 the number of its buckets, a
 * power of two, at 16 the key. A bucket is the address of the first node of its chain; a node consists of the next
 * node's address, its key, the length of its value (an int and 4 unused bytes), and the value. The bucket of a key is
 * {@link #bucket(long, long)}. Result: the value. Code: its length, or -1 if the key is not there. Reads.
 */
public final class HashGet {

    private HashGet() {}

    public static int run(Call call) {
        long key = call.argument(16);
        long node = call.getLong(call.argument(0) + 8 * bucket(key, call.argument(8)));
        while (node != 0) {
            if (call.getLong(node + 8) == key) {
                int length = call.getInt(node + 16);
                call.copyToScratch(node + 24, 0, length);
                call.resultFromScratch(0, 0, length);
                return length;
            }
            node = call.getLong(node);
        }
        return -1;
    }

    /**
     * The bucket of a key: as many bits of a product as are needed, from bit 32 on upwards (multiplicative hashing:
     * Knuth, The Art of Computer Programming, volume 3, 6.4; he takes the highest bits). A client that fills a table
     * calls it too.
     *
     * @param buckets a power of two, at most 2^32
     * @return 0 to {@code buckets} - 1
     */
    public static long bucket(long key, long buckets) {
        long mixed = (key ^ key >>> 32) * 0x9E3779B97F4A7C15L;
        return mixed >>> 32 & buckets - 1;
    }
}
