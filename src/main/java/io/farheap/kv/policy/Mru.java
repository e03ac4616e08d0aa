package io.farheap.kv.policy;

import java.util.Set;

/** The most recently used goes: for loops longer than the cache. */
final class Mru implements EvictionPolicy {

    @Override
    public double priority(Metadata object) {
        return -object.lastAccess();
    }

    @Override
    public Set<Information> needs() {
        return Set.of(Information.LAST_ACCESS);
    }
}
