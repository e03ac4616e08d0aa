package io.farheap.store.index;

/** What an index has to know of the records that its entries point to, when it divides a bucket. Inside an epoch. */
public interface RecordChains {

    /**
     * @param address of a chain's first record
     * @param bit of a hash
     * @param set whether the bit is to be set
     * @return the first record of the chain whose key has such a hash, as far as the chain is in memory; behind that,
     *     the first that is on the device: it may have such keys
     */
    long first(long address, long bit, boolean set);
}
