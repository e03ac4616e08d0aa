package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Which slabs each range has. Sessions read it without a lock, on every request; whoever changes it has its monitor.
 *
 * <p><b>What pairs with what.</b> A writer has its page's stripe word when it looks a slab up, and makes it void before
 * it gives the word up. A new slab is put in its place while REBUILDING, before the regeneration takes the first word:
 * a writer that took a page's word before the regeneration did does not write it, and is in what is decoded; one that
 * takes it afterwards sees the new slab, since the regeneration's release of the word comes after the store here.
 *
 * <p>To grow, the slabs are copied into a larger array, which the field then names; nobody stores into the old one any
 * more, as stores are under the monitor too. Who looks a slab up loads the field each time, and so has the array that
 * the store it must see went to.
 */
public final class SlabTable {

    private final int dataSplits;
    /** So many good slabs of a range remain where others are given up that have missed nothing. */
    private final int kept;

    private final int splits;
    private volatile AtomicReferenceArray<Slab> slabs;
    /** Raised once the slabs are there. */
    private volatile int ranges;

    /** @param first slab of all ranges, split by split */
    public SlabTable(Resilience resilience, List<Slab> first) {
        this.dataSplits = resilience.dataSplits();
        this.kept = rebuildAsks(resilience);
        this.splits = resilience.splits();
        this.ranges = first.size() / splits;
        this.slabs = new AtomicReferenceArray<>(first.toArray(Slab[]::new));
    }

    /** How many good splits of a page a new one is made of, where there are so many: fewer show nothing wrong. */
    public static int rebuildAsks(Resilience resilience) {
        return resilience.checksReads() ? resilience.readAsks() : resilience.dataSplits();
    }

    /** Rises as the space grows. */
    public int ranges() {
        return ranges;
    }

    /** Ranges behind those that there are; sessions may be told of them afterwards. */
    public synchronized void append(List<Slab> more) {
        List<Slab> all = new ArrayList<>();
        for (int i = 0; i < slabs.length(); i++) {
            all.add(slabs.get(i));
        }
        all.addAll(more);
        slabs = new AtomicReferenceArray<>(all.toArray(Slab[]::new));
        ranges = all.size() / splits;
    }

    public int splits() {
        return splits;
    }

    public Slab slab(int range, int split) {
        return slabs.get(range * splits + split);
    }

    /** Those of a range that may be read, a bit each: fewer than k only where there are no more. */
    public int good(int range) {
        int good = seenGood(range);
        return Integer.bitCount(good) < dataSplits ? settledGood(range) : good;
    }

    /** While nobody changes one: else one that is good by now, and one that still was, may both seem not to be. */
    private synchronized int settledGood(int range) {
        return seenGood(range);
    }

    private int seenGood(int range) {
        int good = 0;
        for (int split = 0; split < splits; split++) {
            if (slab(range, split).isGood()) {
                good |= 1 << split;
            }
        }
        return good;
    }

    /**
     * Makes slabs of one range void that missed a write, unless fewer than k good ones would be left: then none.
     *
     * @param missed by split; those of a bit in {@code mask}
     */
    public synchronized boolean makeVoid(Slab[] missed, int mask) {
        int range = missed[Integer.numberOfTrailingZeros(mask)].range();
        int left = 0;
        boolean anyGood = false;
        for (int split = 0; split < splits; split++) {
            Slab slab = slab(range, split);
            boolean misses = (mask >>> split & 1) != 0 && missed[split] == slab;
            anyGood |= misses && slab.isGood();
            left += slab.isGood() && !misses ? 1 : 0;
        }
        if (anyGood && left < dataSplits) {
            return false;
        }
        for (int bits = mask; bits != 0; bits &= bits - 1) {
            missed[Integer.numberOfTrailingZeros(bits)].become(Slab.VOID);
        }
        return true;
    }

    /** Makes one slab void, whether k others are good or not. */
    public synchronized void makeVoid(Slab slab) {
        slab.become(Slab.VOID);
    }

    /**
     * Makes a slab void whose content is in doubt, if its range can do without it: k good ones are left, and in the
     * corruption modes the k + Δ that show what is wrong.
     *
     * @return whether it is void
     */
    public synchronized boolean giveUp(Slab slab) {
        if (slab.isGood() && Integer.bitCount(good(slab.range())) <= kept) {
            return false;
        }
        slab.become(Slab.VOID);
        return true;
    }

    /** Whether a range that has all its slabs has enough without one. */
    public boolean sparesAny() {
        return splits > kept;
    }

    /** Whether a range has all its slabs, and enough without one: then that may go elsewhere for others' sake. */
    public boolean canSpare(Slab slab) {
        return sparesAny()
                && slab(slab.range(), slab.split()) == slab
                && Integer.bitCount(good(slab.range())) == splits;
    }

    /**
     * Makes a slab void that is right and to go elsewhere, if its range {@linkplain #canSpare can spare} it.
     *
     * @return whether it is void
     */
    public synchronized boolean evict(Slab slab) {
        if (!canSpare(slab)) {
            return false;
        }
        slab.become(Slab.VOID);
        return true;
    }

    /** All that a server had is void: its lease is lost, and its memory with it. */
    synchronized int makeVoid(RemoteServer server) {
        List<Slab> lost = slabsAt(server);
        lost.forEach(slab -> slab.become(Slab.VOID));
        return lost.size();
    }

    /** The same of all servers whose leases are lost. */
    public synchronized void makeVoidWhatIsLost() {
        for (int i = 0; i < slabs.length(); i++) {
            Slab slab = slabs.get(i);
            if (!slab.isVoid() && slab.region().server().lost() != null) {
                slab.become(Slab.VOID);
            }
        }
    }

    /** A new slab, which is REBUILDING, takes the place of a void one. */
    public synchronized void replace(Slab old, Slab next) {
        if (!old.isVoid() || slab(old.range(), old.split()) != old) {
            throw new IllegalStateException(old + " is not void, or not in the table");
        }
        slabs.set(old.range() * splits + old.split(), next);
    }

    /** @return false where it has become void meanwhile */
    public synchronized boolean rebuilt(Slab slab) {
        if (slab.isVoid()) {
            return false;
        }
        slab.become(Slab.GOOD);
        return true;
    }

    /** The void slabs, those of the ranges with the fewest good ones first; of ranges that can be rebuilt. */
    public List<Slab> voidSlabs() {
        List<Slab> found = new ArrayList<>();
        int ranges = this.ranges;
        for (int good = dataSplits; good < splits; good++) {
            for (int range = 0; range < ranges; range++) {
                if (Integer.bitCount(good(range)) == good) {
                    for (int split = 0; split < splits; split++) {
                        Slab slab = slab(range, split);
                        if (slab.isVoid()) {
                            found.add(slab);
                        }
                    }
                }
            }
        }
        return found;
    }

    /** The slabs of a server that are not void. */
    public List<Slab> slabsAt(RemoteServer server) {
        List<Slab> found = new ArrayList<>();
        AtomicReferenceArray<Slab> all = slabs;
        for (int i = 0; i < all.length(); i++) {
            Slab slab = all.get(i);
            if (slab.region().server() == server && !slab.isVoid()) {
                found.add(slab);
            }
        }
        return found;
    }

    /** How many slabs of a server have no successor that is good: those that are void too. Any thread. */
    public int placesAt(RemoteServer server) {
        int count = 0;
        AtomicReferenceArray<Slab> all = slabs;
        for (int i = 0; i < all.length(); i++) {
            count += all.get(i).region().server() == server ? 1 : 0;
        }
        return count;
    }

    /** How many they are. */
    public int slabsOf(RemoteServer server) {
        return slabsAt(server).size();
    }

    /**
     * How many slabs are in which state, all at one time: what is counted as good is on a server in the same answer,
     * and none of those that are lost.
     *
     * @param least good ones of a range
     * @param byServer how many slabs of each are not void
     * @param servers all that there are
     * @param lost those of them whose leases are lost
     */
    public record SlabCensus(
            int slabs,
            int good,
            int voids,
            int least,
            Map<RemoteServer, Integer> byServer,
            List<RemoteServer> servers,
            Set<RemoteServer> lost) {}

    /** @param known the servers, to be asked once: any slab's is among them, as none leaves while it has one */
    public synchronized SlabCensus census(Supplier<List<RemoteServer>> known) {
        List<RemoteServer> servers = known.get();
        Set<RemoteServer> lost =
                servers.stream().filter(server -> server.lost() != null).collect(Collectors.toCollection(HashSet::new));
        lost.forEach(this::makeVoid);
        int good = 0;
        int voids = 0;
        int least = splits;
        Map<RemoteServer, Integer> byServer = new HashMap<>();
        for (int range = 0; range < ranges; range++) {
            int goodOfRange = Integer.bitCount(good(range));
            for (int split = 0; split < splits; split++) {
                Slab slab = slab(range, split);
                if (slab.isVoid()) {
                    voids++;
                } else {
                    byServer.merge(slab.region().server(), 1, Integer::sum);
                }
            }
            good += goodOfRange;
            least = Math.min(least, goodOfRange);
        }
        return new SlabCensus(ranges * splits, good, voids, least, byServer, servers, lost);
    }
}
