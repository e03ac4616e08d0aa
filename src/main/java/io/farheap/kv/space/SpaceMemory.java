package io.farheap.kv.space;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * A map's regions, as one process sees them. Places that slots name are checked here before anything is posted to them,
 * as another process may have written anything there.
 *
 * <p>Any thread reads, and one thread adds the regions that the map has grown by. No slot names a block in a new region
 * before all processes have added it. If a server is to leave the map, or a segment is being emptied, no block of it is
 * taken into use any more. If a server has left, words that name one of its blocks count as words that name no possible
 * block.
 */
public final class SpaceMemory {

    private final SpaceShape shape;
    private final KeyHash keyHash;
    private final BlockChecksum checksum;
    /** Only ever replaced by a longer array, so a thread that has found a region in it finds it again. */
    private volatile RemoteRegion[] regions;
    /** By region; if both arrays grow, it is written before {@code regions} and read after it. */
    private volatile byte[] states;

    private volatile boolean anyLeaving;
    /** The servers that the map was made on and that are gone for good, a bit for each of the first 64. */
    private volatile long gone;
    /** Whether the process uses the map under other leases by now, and whether the leases of this one have ended. */
    private volatile boolean ending;

    private volatile boolean ended;
    /** Whether servers that are lost may be replaced, so that a process which reaches too few must not use the map. */
    private final boolean replaces;
    /** At least half of the leases on servers that have the table are held until then; by {@link System#nanoTime}. */
    private volatile long heldUntil = System.nanoTime();
    /** After a look that found too few leases: when to look again. */
    private volatile long nextLook = heldUntil;
    /** Whether the process is about to end its use of the map. */
    private volatile boolean leavesMap;

    private static final long[] NONE = {};
    private static final long FOR_LONG_NANOS = 1_000_000_000L;
    private static final long LOOK_NANOS = 1_000_000L;
    private static final byte USED = 0;
    /** The region has objects, and gets no more. */
    private static final byte LEAVING = 1;

    private static final byte LEFT = 2;

    private volatile RegionDirectory layout;
    /** By region: the offset of the first segment; as {@code states}. */
    private volatile long[] segmentsAt;
    /** By server: the places of segments that are being emptied. The keeper's. */
    private final Map<Integer, long[]> emptyingOf = new HashMap<>();
    /** The places of all servers' segments that are being emptied, sorted. */
    private volatile long[] emptying = {};
    /** The numbers of lost servers that count as some that have left. Set before any other thread looks. */
    private final Set<Integer> without = new HashSet<>();

    /** The process knew all of the map's memory at this moment of {@link System#nanoTime}. */
    private volatile long knewAllAt = System.nanoTime();
    /** Words that name unknown regions, and when one was met first. */
    private final Map<Long, Long> unknown = new ConcurrentHashMap<>();

    private static final int MOST_UNKNOWN = 1024;

    /** Servers that have left, as all processes have confirmed. */
    private final Set<Integer> leftForAll = ConcurrentHashMap.newKeySet();

    private int confirmed;

    private final int placeShift;
    private final long unitMask;
    private final long segmentUnits;

    /** @param spaces of each server, by its number among the map's */
    public SpaceMemory(SpaceShape shape, KeyHash keyHash, RegionDirectory layout, IntFunction<RemoteSpace> spaces) {
        this(shape, keyHash, layout, spaces, false);
    }

    /**
     * @param spaces of each server, by its number among the map's; any for one that is not in the map any more
     * @param replaces whether lost servers that have the table are replaced
     */
    public SpaceMemory(
            SpaceShape shape,
            KeyHash keyHash,
            RegionDirectory layout,
            IntFunction<RemoteSpace> spaces,
            boolean replaces) {
        this.replaces = replaces;
        this.shape = shape;
        this.keyHash = keyHash;
        this.checksum = new BlockChecksum(keyHash);
        this.layout = layout;
        this.states = new byte[layout.regions()];
        this.segmentsAt = segmentsAt(layout);
        this.regions = regions(new RemoteRegion[0], layout, spaces);
        this.placeShift = shape.placeShift();
        this.unitMask = (1L << placeShift) - 1;
        this.segmentUnits = shape.segmentBytes() / BlockFormat.UNIT_BYTES;
    }

    private RemoteRegion[] regions(RemoteRegion[] known, RegionDirectory layout, IntFunction<RemoteSpace> spaces) {
        RemoteRegion[] all = Arrays.copyOf(known, layout.regions());
        for (int number = known.length; number < all.length; number++) {
            int server = layout.serverOf(number);
            // A region of a server that has left is never used, so any other stands in its place.
            all[number] = layout.hasLeft(server) || without.contains(server)
                    ? all[0]
                    : spaces.apply(server).regions().get(layout.indexOf(number));
        }
        // A region of the table whose server was lost is elsewhere; its blocks are nowhere.
        for (int i = 0; i < layout.growths(); i++) {
            RegionDirectory.Growth growth = layout.growth(i);
            for (int region = 0; growth.part() >= 0 && region < growth.count(); region++) {
                all[growth.part() + region * layout.madeOn()] = all[layout.firstNumber(i) + region];
            }
        }
        return all;
    }

    private long[] segmentsAt(RegionDirectory of) {
        long[] at = new long[of.regions()];
        for (int number = 0; number < at.length; number++) {
            at[number] = shape.segmentsAt(of.hadTable(number));
        }
        return at;
    }

    /** The map has grown and its spaces have the regions here, or servers have left it. */
    public void grow(RegionDirectory grown, IntFunction<RemoteSpace> spaces) {
        byte[] more = Arrays.copyOf(states, grown.regions());
        for (int number = 0; number < more.length; number++) {
            int server = grown.serverOf(number);
            more[number] = grown.hasLeft(server) || without.contains(server) ? LEFT : more[number];
        }
        states = more;
        segmentsAt = segmentsAt(grown);
        regions = regions(regions, grown, spaces);
        layout = grown;
        somethingChanged();
    }

    /** All processes have confirmed so many of the map's growths. The keeper's thread. */
    public void confirmed(long growths) {
        RegionDirectory known = layout;
        for (; confirmed < Math.min(growths, known.growths()); confirmed++) {
            RegionDirectory.Growth growth = known.growth(confirmed);
            if (growth.leaves()) {
                leftForAll.add(growth.server());
            }
        }
    }

    /**
     * The first server has said, in answer to a question that was sent at this moment of {@link System#nanoTime} or
     * later, that there is no more memory than this process knows. The keeper's thread.
     */
    public void knewAllAt(long nanos) {
        knewAllAt = nanos;
    }

    /**
     * Whether some process may still get an object by a pointer from the block of a word that holds none as far as this
     * process knows: then it must not be emptied. A place that cannot be is one for no process. No slot names a block
     * of a region before all processes know it, so a region that this process does not know, after it has met the word
     * and asked the first server since, is one for no process either.
     */
    public boolean mayBeRead(long word) {
        long number = SlotWord.place(word) >>> placeShift;
        if (number >= regions.length) {
            return number < shape.mostRegions() && !isNowhere(word);
        }
        if (states[(int) number] != LEFT) {
            return false;
        }
        RegionDirectory known = layout;
        int server = known.serverOf(number);
        // It was lost and has been replaced, so each process that had pointers to blocks there has dropped them.
        boolean isReplaced = server < known.madeOn() && known.hasLeft(server);
        return !isReplaced && !leftForAll.contains(server);
    }

    private boolean isNowhere(long word) {
        Long met = unknown.get(word);
        if (met == null) {
            if (unknown.size() >= MOST_UNKNOWN) {
                unknown.clear();
            }
            unknown.put(word, System.nanoTime());
            return false;
        }
        return knewAllAt - met > 0;
    }

    private void somethingChanged() {
        boolean any = false;
        for (byte state : states) {
            any |= state == LEAVING;
        }
        anyLeaving = any;
        emptying = emptying.clone();
    }

    /**
     * A server is lost: from now on it counts as one that has left. Called before the map is used, and {@link #grow}
     * after it.
     */
    public void goWithout(int server) {
        without.add(server);
    }

    /** Whether this process uses the map without a server, as it is lost. */
    public boolean goesWithout(int server) {
        return without.contains(server);
    }

    /** A server is to leave the map, or stays after all. */
    public void leaves(int server, boolean leaving) {
        byte[] changed = states.clone();
        for (int number = 0; number < changed.length; number++) {
            if (layout.serverOf(number) == server && changed[number] != LEFT) {
                changed[number] = leaving ? LEAVING : USED;
            }
        }
        states = changed;
        somethingChanged();
    }

    /**
     * A server has announced which of its segments are being emptied: no block of theirs is taken into use any more.
     */
    public void empties(int server, long[] places) {
        if (Arrays.equals(places, emptyingOf.getOrDefault(server, NONE))) {
            return;
        }
        emptyingOf.put(server, places);
        long[] all = emptyingOf.values().stream().flatMapToLong(Arrays::stream).toArray();
        Arrays.sort(all);
        emptying = all;
    }

    /**
     * The places of segments that are being emptied. The array is another object whenever other segments are being
     * emptied, or servers leave or stay.
     */
    public long[] emptying() {
        return emptying;
    }

    private boolean isEmptying(long place) {
        long[] places = emptying;
        if (places.length == 0) {
            return false;
        }
        int at = Arrays.binarySearch(places, place);
        return at >= 0 || at < -1 && place - places[-2 - at] < segmentUnits;
    }

    /**
     * Whether the block of a word that holds one may be taken into use: its server does not leave, and its segment is
     * not being emptied.
     */
    public boolean mayUse(long word) {
        long place = SlotWord.place(word);
        return states[(int) (place >>> placeShift)] == USED && !isEmptying(place);
    }

    /** Whether a word names a place on a server that is to leave, and has not left yet. */
    public boolean isLeaving(long word) {
        long number = SlotWord.place(word) >>> placeShift;
        byte[] all = states;
        return number < all.length && all[(int) number] == LEAVING;
    }

    /** A service says which servers are gone for good. @param servers a bit for each of the first 64 */
    public void gone(long servers) {
        long all = gone | servers;
        if (all != gone) {
            gone = all;
        }
    }

    /** Whether a server is gone for good, so that no process reads its part of the table any more. */
    public boolean isGone(int server) {
        return server < Long.SIZE && (gone >>> server & 1) != 0;
    }

    /** The leases are about to end, as the process has others: nothing is connected to these servers again. */
    public void beginEnd() {
        ending = true;
    }

    /** The leases have ended, and nothing that was posted under them can take effect any more. */
    public void end() {
        ended = true;
    }

    /** Whether the leases end or have ended, as the process has others. */
    boolean isEnding() {
        return ending;
    }

    /** Whether the leases have ended, as the process has others. */
    boolean hasEnded() {
        return ended;
    }

    /** Whether any server is to leave. */
    public boolean anyLeaving() {
        return anyLeaving;
    }

    /** Whether an existing block's server has left. */
    public boolean hasLeft(long word) {
        return states[(int) (SlotWord.place(word) >>> placeShift)] == LEFT;
    }

    /** Whether a region is on a server that has not left. */
    public boolean hasRegion(int number) {
        return states[number] != LEFT;
    }

    public RegionDirectory layout() {
        return layout;
    }

    public SpaceShape shape() {
        return shape;
    }

    /** The hash function of the map's keys. */
    public KeyHash keyHash() {
        return keyHash;
    }

    /** The checksum of the map's blocks. */
    public BlockChecksum checksum() {
        return checksum;
    }

    public int regions() {
        return regions.length;
    }

    /** Passes each server that has not left to a consumer, at least once. */
    void servers(Consumer<RemoteServer> consumer) {
        RemoteRegion[] all = regions;
        for (int number = 0; number < all.length; number++) {
            if (hasRegion(number) && (number == 0 || all[number].server() != all[number - 1].server())) {
                consumer.accept(all[number].server());
            }
        }
    }

    /** How many segments there are on servers that do not leave. Reads all regions' numbers. */
    public long segments() {
        byte[] all = states;
        long sum = 0;
        for (int number = 0; number < all.length; number++) {
            sum += all[number] == USED ? segmentsOf(number) : 0;
        }
        return sum;
    }

    /** How many segments a region has. */
    public long segmentsOf(int number) {
        return shape.segments(layout.hadTable(number));
    }

    /**
     * Whether the process may not begin a request any more: it holds leases on less than half of the servers that have
     * the table, by its clock, so these may have been replaced by the others, which are more than half; or it is about
     * to end its use of the map. Any thread.
     */
    public boolean isCutOff() {
        if (!replaces) {
            return false;
        }
        long now = System.nanoTime();
        return leavesMap || now - heldUntil >= 0 && !holdsHalf(now);
    }

    /** Whether lost servers that have the table are replaced. */
    public boolean replaces() {
        return replaces;
    }

    /** The process is about to say to servers that it uses the map no more. */
    public void leaveMap() {
        leavesMap = true;
    }

    private boolean holdsHalf(long now) {
        if (now - nextLook < 0) {
            return false;
        }
        RegionDirectory present = layout;
        long retired = present.retired();
        int of = present.madeOn() - Long.bitCount(retired);
        if (of < MapDescriptor.LEAST_REPLACING) {
            // None of two is replaced.
            heldUntil = now + FOR_LONG_NANOS;
            return true;
        }
        long most = 0;
        for (int server = 0; server < present.madeOn(); server++) {
            long held = heldFor(server, retired, now);
            int longer = 0;
            for (int other = 0; held > most && other < present.madeOn(); other++) {
                longer += heldFor(other, retired, now) >= held ? 1 : 0;
            }
            most = 2 * longer >= of ? held : most;
        }
        nextLook = most > 0 ? now : now + LOOK_NANOS;
        heldUntil = now + most;
        return most > 0;
    }

    /** How long the lease on a server that the map was made on is held at least, from now on. */
    private long heldFor(int server, long retired, long now) {
        if (server < Long.SIZE && (retired >>> server & 1) != 0) {
            return 0;
        }
        RemoteServer of = regions[server].server();
        return of.lost() == null ? Math.max(0, of.heldUntil() - now) : 0;
    }

    public RemoteRegion region(int number) {
        return regions[number];
    }

    /** Whether a place and a length in units lie in one region, behind its table. */
    public boolean holds(long place, int units) {
        long number = place >>> placeShift;
        if (number >= regions.length || states[(int) number] == LEFT) {
            return false;
        }
        long offset = (place & unitMask) << 6;
        return offset >= segmentsAt[(int) number]
                && offset + units * (long) BlockFormat.UNIT_BYTES <= shape.regionBytes();
    }

    /** Whether a word may name a block. */
    public boolean holdsBlock(long word) {
        return SlotWord.units(word) > 0 && holds(SlotWord.place(word), SlotWord.units(word));
    }

    /** The number of the server that has a block; the first server's if there is no such place. */
    public int serverOf(long word) {
        return layout.serverOf(SlotWord.place(word) >>> placeShift);
    }

    public RemoteRegion regionOf(long place) {
        return regions[(int) (place >>> placeShift)];
    }

    long offsetOf(long place) {
        return (place & unitMask) << 6;
    }
}
