package io.farheap.kv.blocks;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.ReachableRegions;
import io.farheap.kv.space.SpaceMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * A session's free blocks, by size class, and the segments that it cuts new ones from. A block that the session has
 * evicted or replaced belongs to it from then on, with the next incarnation. One thread, except {@link #held}.
 *
 * <p>Free blocks are used first in, first out, so that a client that still reads a block which was freed has as long as
 * possible. If a session has more free blocks of a class than fill two segments, or fewer in a small map, it gives half
 * of them back; if it has more of all classes together than fill four, it gives back some of the class of which it has
 * most. Otherwise sessions that use many sizes would hold a large part of the map free.
 *
 * <p>The keeper's thread may collect the held blocks at any time ({@link #held}) and must not miss one that moves. So
 * the session's thread stores a block at its new place before it clears the old one: from a segment or a ring to
 * {@code hand}, and from there to the request that uses it. All these stores are releases, which pair with the acquires
 * of {@link #held}; it may see a block twice, which does no harm.
 */
public final class BlockAllocator {

    /** No block. */
    public static final long NONE = 0;

    private static final int FIRST_CAPACITY = 64;
    private static final long MOST_UNITS_KEPT = 2048;
    /** A session keeps at most one in so many of the map's units free in each class. */
    private static final int KEPT_SHARE = 256;

    private static final int LEAST_KEPT = 8;
    /** The limit for all classes together, as a multiple of the limit for one. */
    private static final int CLASSES_KEPT = 2;
    /** In a map of at least so many segments, a session asks ahead for its next ones. */
    private static final int AHEAD_SEGMENTS = 64;

    /** How many blocks one request gives back at most. */
    private static final int SURPLUS_AT_ONCE = 8;

    private static final VarHandle RINGS = MethodHandles.arrayElementVarHandle(long[][].class);
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    /** By class: rings of words without a fingerprint, each with the incarnation to use next; 0: no block. */
    private final long[][] free = new long[SizeClasses.COUNT][];

    private final int[] first = new int[SizeClasses.COUNT];
    private final int[] count = new int[SizeClasses.COUNT];

    private final UncutSegments uncut = new UncutSegments();

    /**
     * Whether the session asks ahead. In a small map, one more segment in each session would be a large part of the
     * memory.
     */
    private final boolean asksAhead;

    /** The block that was taken last. */
    private final long[] hand = new long[1];
    /**
     * Blocks that a compare-and-swap of unknown outcome may have stored in a slot, or removed from one, while it may
     * still take effect.
     */
    private long[] unknown = new long[0];

    private final Mailbox mailbox;
    private final SpaceMemory space;
    private final ReachableRegions reach;
    private final int unitsKept;
    /** The limit for all classes together, with blocks not cut yet, but without spare segments of the deep class. */
    private final int mostUnitsHeld;

    private long held;
    private long freeUnits;
    private final QuarantinedBlocks aside = new QuarantinedBlocks();
    /**
     * The segments being emptied that {@link #letGoOfEmptying} has seen, and whether some blocks had no room in the
     * mailbox.
     */
    private long[] emptyingSeen = {};

    private boolean owes;

    /** @param mailbox receives surplus blocks, and those of segments that are being emptied */
    public BlockAllocator(Mailbox mailbox, SpaceMemory space, ReachableRegions reach) {
        long units = space.regions() * space.shape().regionBytes() / BlockFormat.UNIT_BYTES;
        unitsKept = (int) Math.clamp(units / KEPT_SHARE, LEAST_KEPT, MOST_UNITS_KEPT);
        asksAhead = units * BlockFormat.UNIT_BYTES
                >= (long) AHEAD_SEGMENTS * space.shape().segmentBytes();
        mostUnitsHeld = CLASSES_KEPT * Math.max(unitsKept, SlotWord.MOST_UNITS);
        this.mailbox = mailbox;
        this.space = space;
        this.reach = reach;
    }

    /**
     * Takes a block of a class, or of the next larger ones that have one, if they are {@linkplain SizeClasses#near
     * near}.
     *
     * @return a word without a fingerprint, or {@link #NONE}
     */
    public long take(int sizeClass) {
        return take(sizeClass, SizeClasses.near(sizeClass));
    }

    /** The same, up to a class. */
    public long take(int sizeClass, int largest) {
        long block = takeExact(sizeClass);
        if (block == NONE && mailbox.hasAhead()) {
            takeGiven(sizeClass);
            block = takeExact(sizeClass);
        }
        for (int larger = sizeClass + 1; block == NONE && larger <= largest; larger++) {
            block = takeFree(larger);
        }
        return block;
    }

    /** Asks the services for blocks of a class, for requests that do without one until there is an answer. */
    public void askAhead(int sizeClass) {
        mailbox.askAhead(sizeClass);
    }

    /** From the blocks held here; an answer that was asked for ahead is not taken. */
    private long takeExact(int sizeClass) {
        long block = takeFree(sizeClass);
        return block != NONE ? block : takeCut(sizeClass);
    }

    /** The first free block that may be used. Blocks before it that must not be used are let go. */
    private long takeFree(int sizeClass) {
        for (int left = count[sizeClass]; left > 0; left--) {
            long block = takeFirst(sizeClass);
            boolean mayUse = space.mayUse(block);
            if (mayUse && reach.block(block)) {
                return block;
            }
            if (mayUse || !letGo(block)) {
                put(sizeClass, block);
            }
            emptyHand();
        }
        return NONE;
    }

    private long takeCut(int sizeClass) {
        while (uncut.left(sizeClass) > 0 && reach.block(uncut.next(sizeClass))) {
            long block = cut(sizeClass);
            if (space.mayUse(block)) {
                return block;
            }
            if (!letGo(block)) {
                put(sizeClass, block);
            }
            emptyHand();
        }
        return NONE;
    }

    /**
     * If the segments being emptied, or the servers that leave, have changed, gives back the blocks held there. Costs
     * one read if nothing has changed.
     */
    public void letGoOfEmptying() {
        long[] now = space.emptying();
        if (now == emptyingSeen && !owes) {
            return;
        }
        emptyingSeen = now;
        owes = false;
        lookAside();
        boolean gave = false;
        if (now.length > 0) {
            uncut.unpack(first -> !space.mayUse(first), this::put);
        }
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT && now.length > 0; sizeClass++) {
            while (uncut.left(sizeClass) > 0 && !space.mayUse(uncut.next(sizeClass))) {
                put(sizeClass, cut(sizeClass));
            }
            // If all may be used, no block moves: a thread that collects held blocks looks for each where it was.
            for (int left = mayUseAll(sizeClass) ? 0 : count[sizeClass]; left > 0; left--) {
                long block = takeFirst(sizeClass);
                if (space.mayUse(block) || !letGo(block)) {
                    put(sizeClass, block);
                } else {
                    gave = true;
                }
            }
        }
        emptyHand();
        if (gave) {
            mailbox.gaveBack();
        }
    }

    /** Gives back blocks of a server that stays after all, and drops blocks of a server that has left. */
    private void lookAside() {
        boolean gave = false;
        while (!aside.isEmpty() && !space.isLeaving(aside.last())) {
            if (!space.hasLeft(aside.last())) {
                if (!mailbox.giveBack(aside.last())) {
                    owes = true;
                    break;
                }
                gave = true;
            }
            aside.removeLast();
        }
        if (gave) {
            mailbox.gaveBack();
        }
    }

    /** The next block of a class to give back; that does not need a connection to its server. */
    private long takeSurplus(int sizeClass) {
        for (int left = count[sizeClass] + uncut.left(sizeClass); left > 0; left--) {
            long block = count[sizeClass] > 0 ? takeFirst(sizeClass) : cut(sizeClass);
            if (space.mayUse(block)) {
                return block;
            }
            if (!letGo(block)) {
                put(sizeClass, block);
            }
        }
        return NONE;
    }

    private boolean mayUseAll(int sizeClass) {
        long[] ring = free[sizeClass];
        for (int i = 0; i < count[sizeClass]; i++) {
            if (!space.mayUse(ring[first[sizeClass] + i & ring.length - 1])) {
                return false;
            }
        }
        return true;
    }

    /** Whether a slot may still name this block: neither its server leaves nor its segment is being emptied. */
    public boolean mayUse(long block) {
        return space.mayUse(block);
    }

    /**
     * Lets a block go that must not be used: back to the services if its segment is being emptied, into quarantine if
     * its server leaves; if its server has left, the block is dropped.
     *
     * @return false if the mailbox had no room for it
     */
    private boolean letGo(long block) {
        if (space.isLeaving(block)) {
            aside.add(block);
            return true;
        }
        if (space.hasLeft(block) || mailbox.giveBack(block)) {
            return true;
        }
        owes = true;
        return false;
    }

    private long takeFirst(int sizeClass) {
        long[] ring = free[sizeClass];
        int at = first[sizeClass];
        long block = ring[at];
        WORDS.setRelease(hand, 0, block);
        WORDS.setRelease(ring, at, NONE);
        first[sizeClass] = at + 1 & ring.length - 1;
        count[sizeClass]--;
        held--;
        freeUnits -= SizeClasses.units(sizeClass);
        return block;
    }

    private long cut(int sizeClass) {
        long block = uncut.next(sizeClass);
        WORDS.setRelease(hand, 0, block);
        uncut.cut(sizeClass);
        return block;
    }

    /** Cuts blocks of a class from a segment, which is the session's alone and was never used. */
    void addSegment(int sizeClass, long place, int bytes) {
        while (!uncut.add(sizeClass, place, bytes)) {
            put(sizeClass, cut(sizeClass));
            emptyHand();
        }
    }

    /**
     * Takes over the services' answer, if there is one, for requests that use it at once. If it is segments of their
     * class, the session begins to cut them, and asks ahead for the next ones.
     *
     * @param wantedClass {@link SizeClasses#COUNT} if requests wait for several classes
     * @return the largest class of the blocks; 0 for segments or nothing
     */
    public int takeGiven(int wantedClass) {
        // Read once, since the answer may come at any time.
        if (!mailbox.hasBlocks()) {
            mailbox.gaveUp();
            return 0;
        }
        boolean begins = asksAhead && mailbox.given(MapCalls.SEGMENT) && mailbox.givenClass() == wantedClass;
        int largest = takeAnswer();
        if (begins) {
            mailbox.askAhead(wantedClass);
        }
        return largest;
    }

    /** Takes over the answer that is there. */
    private int takeAnswer() {
        int largest = 0;
        if (mailbox.given(MapCalls.SEGMENT)) {
            for (int i = 0; i < mailbox.givenCount(); i += 2) {
                addSegment(mailbox.givenClass(), mailbox.given(i), (int) mailbox.given(i + 1));
            }
        } else if (mailbox.given(MapCalls.BLOCKS)) {
            for (int i = 0; i < mailbox.givenCount(); i++) {
                accept(mailbox.given(i));
                largest = SizeClasses.of(SlotWord.units(mailbox.given(i)));
            }
        }
        mailbox.took();
        return largest;
    }

    /**
     * Frees a block whose word this session's compare-and-swap has removed from the table.
     *
     * @param word of the slot, as it was
     */
    public void reclaim(long word) {
        int incarnation = SlotWord.incarnation(word) + 1;
        // After the last incarnation words would come back while clients may hold them: 0 marks the block as worn out.
        giveBack(SlotWord.live(SlotWord.place(word), incarnation & SlotWord.INCARNATIONS - 1, 0, SlotWord.units(word)));
    }

    /** Frees a block that no slot has named since it was taken. */
    public void giveBack(long word) {
        if (!accept(word)) {
            return;
        }
        int sizeClass = SizeClasses.of(SlotWord.units(word));
        if (count[sizeClass] > most(sizeClass)) {
            giveSurplus(sizeClass, most(sizeClass) / 2);
        } else if (freeUnits + uncut.unitsBut(mailbox.deepClass()) > mostUnitsHeld) {
            giveSurplus(classOfMost(), 1);
        }
    }

    /** Keeps a block that may be used, or else lets it go; returns whether it is kept. */
    private boolean accept(long word) {
        long block = SlotWord.block(word);
        if (!space.mayUse(block) && letGo(block)) {
            return false;
        }
        if (SlotWord.incarnation(block) == 0) {
            if (!mailbox.giveBack(block)) {
                losesSight();
            }
            return false;
        }
        put(block);
        return true;
    }

    /** The class of which the session holds most. */
    private int classOfMost() {
        int largest = 0;
        long most = -1;
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            long units = (long) count[sizeClass] * SizeClasses.units(sizeClass) + uncut.unitsOf(sizeClass);
            if (units > most) {
                largest = sizeClass;
                most = units;
            }
        }
        return largest;
    }

    private int most(int sizeClass) {
        return Math.max(LEAST_KEPT, unitsKept / SizeClasses.units(sizeClass));
    }

    /** @param left how many blocks the session keeps at least */
    private void giveSurplus(int sizeClass, int left) {
        boolean gave = false;
        for (int i = 0; i < SURPLUS_AT_ONCE && count[sizeClass] + uncut.left(sizeClass) > left; i++) {
            long block = takeSurplus(sizeClass);
            if (block == NONE) {
                break;
            }
            if (!mailbox.giveBack(block)) {
                put(sizeClass, block);
                break;
            }
            gave = true;
        }
        emptyHand();
        if (gave) {
            mailbox.gaveBack();
        }
    }

    /**
     * Gives back all blocks except those of one class, the largest first, as far as the mailbox has room.
     *
     * @param sizeClass the class to keep; -1: none
     * @return whether any block goes back
     */
    public boolean giveOthersBack(int sizeClass) {
        boolean gave = false;
        for (int other = SizeClasses.COUNT - 1; other >= 0; other--) {
            boolean room = other != sizeClass;
            while (room && count[other] + uncut.left(other) > 0) {
                long block = takeSurplus(other);
                if (block == NONE) {
                    break;
                }
                room = mailbox.giveBack(block);
                gave |= room;
                if (!room) {
                    put(other, block);
                }
            }
        }
        emptyHand();
        if (gave) {
            mailbox.gaveBack();
        }
        return gave;
    }

    private void put(long block) {
        put(SizeClasses.of(SlotWord.units(block)), block);
    }

    private void put(int sizeClass, long block) {
        long[] ring = free[sizeClass];
        if (ring == null) {
            ring = new long[FIRST_CAPACITY];
            RINGS.setRelease(free, sizeClass, ring);
        } else if (count[sizeClass] == ring.length) {
            long[] larger = Arrays.copyOfRange(ring, first[sizeClass], first[sizeClass] + 2 * ring.length);
            System.arraycopy(ring, 0, larger, ring.length - first[sizeClass], first[sizeClass]);
            Arrays.fill(larger, ring.length, larger.length, NONE);
            first[sizeClass] = 0;
            ring = larger;
            RINGS.setRelease(free, sizeClass, ring);
        }
        WORDS.setRelease(ring, first[sizeClass] + count[sizeClass] & ring.length - 1, block);
        count[sizeClass]++;
        held++;
        freeUnits += SizeClasses.units(sizeClass);
    }

    /** Keeps a block whose fate is unknown, until {@link #letGoOfUnknown}. 0 is ignored. */
    public void keepUnknown(long block) {
        if (block != NONE) {
            long[] more = Arrays.copyOf(unknown, unknown.length + 1);
            more[unknown.length] = block;
            VarHandle.releaseFence();
            unknown = more;
        }
    }

    /**
     * Lets the blocks of unknown fate go, as nothing that was posted can name one or land in one any more: the services
     * collect those that no slot names and no session holds.
     */
    public void letGoOfUnknown() {
        if (unknown.length > 0) {
            unknown = new long[0];
            losesSight();
        }
    }

    /** The session has dropped blocks that only the services can find. */
    public void losesSight() {
        mailbox.losesSight();
    }

    /** Whether there are no blocks of unknown fate. */
    public boolean knowsAll() {
        return unknown.length == 0;
    }

    /**
     * Adds all blocks, in this order: those not cut yet, free ones, the one taken last; see {@link HeldBlocks}. Any
     * thread.
     */
    public void held(HeldBlocks into) {
        uncut.held(into);
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            long[] ring = (long[]) RINGS.getAcquire(free, sizeClass);
            for (int i = 0; ring != null && i < ring.length; i++) {
                into.add((long) WORDS.getAcquire(ring, i));
            }
        }
        into.add((long) WORDS.getAcquire(hand, 0));
        aside.held(into);
        VarHandle.acquireFence();
        for (long block : unknown) {
            into.add(block);
        }
    }

    /** The request that uses the block taken last holds it now, and reports it itself. */
    public void emptyHand() {
        WORDS.setRelease(hand, 0, NONE);
    }

    /** Passes all free blocks, those not cut yet too, as words without a fingerprint. */
    public void forEachFree(LongConsumer consumer) {
        aside.forEachBut(space::hasLeft, consumer);
        uncut.forEach(consumer);
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            long[] ring = free[sizeClass];
            for (int i = 0; i < count[sizeClass]; i++) {
                consumer.accept(ring[first[sizeClass] + i & ring.length - 1]);
            }
        }
    }

    /** Whether there are free blocks, cut or not. */
    public boolean holdsAny() {
        return freeUnits > 0 || !uncut.isEmpty();
    }

    /** How many free blocks there are, without those not cut yet. */
    long held() {
        return held;
    }
}
