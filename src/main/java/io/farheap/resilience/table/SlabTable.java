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
 * The slabs of each range: {@link #slab} gives the slab that holds split j of a range's pages now. Sessions look slabs
 * up on every request, without a lock; every change is made with this table's monitor held.
 *
 * <p><b>The idea.</b> A completed write must be in every slab that readers use. The table changes while sessions read
 * and write, and relies on the page's stripe word ({@link StripeWords}) for order: a write of the page and a
 * regeneration of the page both take the word, one at a time. A thread that changes the table does so before it
 * releases the word; a thread that depends on the change looks at the word first and at the table afterwards. The
 * release and the acquire of the word therefore order the change before the look-up, and a look-up is three volatile
 * reads: the array, its element, and the slab's state.
 *
 * <p><b>Who writes what.</b>
 *
 * <ul>
 *   <li>Sessions make slabs void that have missed a write ({@link #makeVoid(Slab[], int)}). A thread that finds a
 *       server's lease lost makes that server's slabs void.
 *   <li>The keeper puts a REBUILDING slab in the place of a void one ({@link #replace}), makes it GOOD when it has all
 *       pages ({@link #rebuilt}), and makes slabs void that are in doubt ({@link #giveUp}) or are to move to another
 *       server ({@link #evict}).
 *   <li>The thread that grows the space adds ranges ({@link #append}).
 * </ul>
 *
 * An element of the array is set by {@link #replace} alone. A slab's state changes in one direction, REBUILDING, GOOD,
 * VOID, so a slab that a thread has seen void stays void.
 *
 * <p><b>Write, then read.</b> A writer that gives a split up makes its slab void and then stores the page's stripe word
 * (volatile). A reader loads the word (acquire) and then looks at the slabs: if it sees the word that the write left,
 * it sees the void slab, and does not read it. A reader that loaded the word earlier compares it again once it has its
 * splits, finds another version, and reads again. The keeper holds no word when it makes a slab void. That is enough:
 * until a write skips the slab its content is as good as before, and a writer that skips it has seen it void before it
 * stores its word, so a reader that sees this word sees the void slab too.
 *
 * <p><b>Write beside a regeneration.</b> The keeper stores the new slab here; then it takes the stripe words of some
 * pages, decodes these pages from good slabs, writes the result to the new slab and releases the words. A writer takes
 * its page's word before it looks its slabs up. There are two cases. A writer that had the word before the regeneration
 * may have found the void slab, which it skips; its write is in the good slabs from which the regeneration decodes. A
 * writer that takes the word after the regeneration sees the new slab, since the store to the array precedes the
 * release of the word, and writes to it. In both cases the new slab has the write before it becomes GOOD, or the write
 * has not completed yet, and readers see that in the word.
 *
 * <p><b>Growing.</b> The slabs are copied into a larger array, which the volatile field {@code slabs} then names, and
 * {@code ranges} is raised after that, so a thread that sees a range also sees its slabs. No thread stores into the old
 * array afterwards, as stores are made under the monitor too. A look-up loads the field each time; therefore it uses
 * the array that received the store which it must see.
 */
public final class SlabTable {

    private final int dataSplits;
    /** The number of good slabs of a range that must remain when a slab is given up that has missed nothing. */
    private final int kept;

    private final int splits;
    private volatile AtomicReferenceArray<Slab> slabs;
    /** Raised after {@code slabs} holds the new ranges. */
    private volatile int ranges;

    /** @param first the slabs of all ranges, range by range and split by split */
    public SlabTable(Resilience resilience, List<Slab> first) {
        this.dataSplits = resilience.dataSplits();
        this.kept = rebuildAsks(resilience);
        this.splits = resilience.splits();
        this.ranges = first.size() / splits;
        this.slabs = new AtomicReferenceArray<>(first.toArray(Slab[]::new));
    }

    /**
     * How many good splits of a page a regeneration reads, if so many are good. With fewer, a corruption mode could not
     * show a wrong split.
     */
    public static int rebuildAsks(Resilience resilience) {
        return resilience.checksReads() ? resilience.readAsks() : resilience.dataSplits();
    }

    /** The number of ranges; rises as the space grows. */
    public int ranges() {
        return ranges;
    }

    /** Adds ranges behind the existing ones. Sessions accept requests to them once {@link #ranges} has risen. */
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

    /** The slabs of a range that may be read, a bit for each: fewer than k only if no more are good. */
    public int good(int range) {
        int good = seenGood(range);
        return Integer.bitCount(good) < dataSplits ? settledGood(range) : good;
    }

    /**
     * The same with the monitor held. Without it, a look can miss both a slab that has just become good and one that
     * was good until now, and so count fewer than there were at any moment.
     */
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
     * Makes slabs of one range void that have missed a write, unless that would leave fewer than k good ones: then it
     * changes nothing.
     *
     * @param missed by split; the slabs that have a bit in {@code mask}
     * @return whether they are void
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

    /** Makes one slab void, even if that leaves fewer than k good ones. */
    public synchronized void makeVoid(Slab slab) {
        slab.become(Slab.VOID);
    }

    /**
     * Makes a slab void of which the content is in doubt, if its range can do without it: k good slabs remain, or in
     * the corruption modes the k + Δ that show a wrong split.
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

    /** Whether a range with all its slabs good has enough without one. */
    public boolean sparesAny() {
        return splits > kept;
    }

    /**
     * Whether all slabs of this slab's range are good, and enough without it: then it may move to another server for a
     * reason that has nothing to do with its content.
     */
    public boolean canSpare(Slab slab) {
        return sparesAny()
                && slab(slab.range(), slab.split()) == slab
                && Integer.bitCount(good(slab.range())) == splits;
    }

    /**
     * Makes a slab void that is correct but is to move to another server, if its range {@linkplain #canSpare can spare}
     * it.
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

    /** Makes all slabs of a server void: its lease is lost, and with it the memory. */
    synchronized int makeVoid(RemoteServer server) {
        List<Slab> lost = slabsAt(server);
        lost.forEach(slab -> slab.become(Slab.VOID));
        return lost.size();
    }

    /** Does the same for all servers that have lost their leases. */
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

    /**
     * Makes a slab GOOD of which all pages have been regenerated.
     *
     * @return false if it has become void meanwhile
     */
    public synchronized boolean rebuilt(Slab slab) {
        if (slab.isVoid()) {
            return false;
        }
        slab.become(Slab.GOOD);
        return true;
    }

    /** The void slabs of ranges that can be rebuilt; those of the ranges with the fewest good slabs come first. */
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

    /**
     * How many places of the table name a slab of this server that moves when the server is retired: a void slab is
     * counted, too, since it has no successor yet, but none of a range that {@linkplain #isLost is lost}, which gets no
     * new slabs. Any thread.
     */
    public int placesAt(RemoteServer server) {
        int count = 0;
        AtomicReferenceArray<Slab> all = slabs;
        for (int i = 0; i < all.length(); i++) {
            count += all.get(i).region().server() == server && !isLost(i / splits) ? 1 : 0;
        }
        return count;
    }

    /** How many places of the table name a slab of this server, those of lost ranges included. Any thread. */
    public int namedAt(RemoteServer server) {
        int count = 0;
        AtomicReferenceArray<Slab> all = slabs;
        for (int i = 0; i < all.length(); i++) {
            count += all.get(i).region().server() == server ? 1 : 0;
        }
        return count;
    }

    /**
     * Whether fewer than k slabs of a range are not void, so that it will never be read again. As with {@link #good}, a
     * look without the monitor can count too few.
     */
    private boolean isLost(int range) {
        return left(range) < dataSplits && settledLeft(range) < dataSplits;
    }

    private synchronized int settledLeft(int range) {
        return left(range);
    }

    /** How many slabs of a range are not void. */
    private int left(int range) {
        int left = 0;
        for (int split = 0; split < splits; split++) {
            left += slab(range, split).isVoid() ? 0 : 1;
        }
        return left;
    }

    /** Makes the slabs of a server void that belong to ranges which are lost: the server may leave with them. */
    public synchronized void makeVoidOfLostRanges(RemoteServer server) {
        for (Slab slab : slabsAt(server)) {
            if (isLost(slab.range())) {
                slab.become(Slab.VOID);
            }
        }
    }

    /** The size of {@link #slabsAt}. */
    public int slabsOf(RemoteServer server) {
        return slabsAt(server).size();
    }

    /**
     * How many slabs are in which state, all at one moment: each slab that is counted as good is also counted at its
     * server, and no server of a good slab is among the lost ones.
     *
     * @param least the fewest good slabs that a range has
     * @param byServer how many slabs of each server are not void
     * @param servers all servers
     * @param lost the servers among them that have lost their leases
     */
    public record SlabCensus(
            int slabs,
            int good,
            int voids,
            int least,
            Map<RemoteServer, Integer> byServer,
            List<RemoteServer> servers,
            Set<RemoteServer> lost) {}

    /**
     * Counts the slabs.
     *
     * @param known supplies the servers, and is called once. The server of every slab is among them, as no server
     *     leaves while it has one
     */
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
