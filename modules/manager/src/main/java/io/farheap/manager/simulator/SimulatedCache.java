package io.farheap.manager.simulator;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Need;
import java.util.List;
import java.util.TreeMap;

/** A cache: what it needs, and how many regions of a GiB it has by each offer. */
final class SimulatedCache {

    final long id;
    /** Its need for the time that it was asked for. */
    final Need need;

    final AllocationCandidate candidate;
    /** In minutes. */
    final double begin;

    final double end;
    final boolean forEver;
    /** By offer. */
    final TreeMap<Long, Integer> regions = new TreeMap<>();
    /** By offer at the full price: the numbers of its machines, as {@link SimulatedDataCenter#take} returns them. */
    final TreeMap<Long, List<Integer>> machines = new TreeMap<>();
    /** How many regions have no place now. */
    int homeless;

    SimulatedCache(long id, Need need, AllocationCandidate candidate, double begin, double end, boolean forEver) {
        this.id = id;
        this.need = need;
        this.candidate = candidate;
        this.begin = begin;
        this.end = end;
        this.forEver = forEver;
    }

    /** Returns server threads for each region. */
    double threads() {
        return (double) candidate.serverThreads() / gib();
    }

    int gib() {
        return (int) (need.capacity() >> 30);
    }

    /** Returns its need until its end. */
    Need remaining(double now) {
        return forEver ? need : need.within(Math.max((end - now) / 60, 1.0 / 60));
    }
}
