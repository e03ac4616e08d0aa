package io.farheap.store.index;

/**
 * How an index that divides a bucket follows the chains of records that its entries point to. Called inside an epoch.
 */
public interface RecordChains {

    /**
     * @param address of a chain's first record
     * @param bit the bit of the hash by which the bucket is divided
     * @param set which half is asked for: keys whose hash has the bit set, or not
     * @return the address of the first record in memory whose key's hash is of that half; if memory has none, the first
     *     address of the chain that is on the device, since such keys may follow there; 0 if the chain ends before
     */
    long first(long address, long bit, boolean set);
}
