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
 * A session's free blocks, by size class, and the segments that it cuts new ones from. What a session evicts or
 * replaces is its own from then on, with the next incarnation. One thread, but for {@link #held}.
 *
 * <p>Free blocks are used first in, first out: who still reads one that was freed has as long as possible. Where there
 * are more of a class than fill two segments, less in a small map, a session gives half of it back; and where there are
 * more of all classes than fill four, some of what it has most of: else sessions of many sizes would hold a large part
 * of the map free.
 *
 * <p>Another thread may look at what is held at any time ({@link #held}). For it a block is added where it goes before
 * it is taken from where it was: from a segment or a ring to {@code hand}, and from there to the request that uses it.
 */
public final class BlockAllocator {

    /** No block. */
    public static final long NONE = 0;

    private static final int FIRST_CAPACITY = 64;
    private static final long MOST_UNITS_KEPT = 2048;
    /** Of the units of a map a session keeps one in so many of each class. */
    private static final int KEPT_SHARE = 256;

    private static final int LEAST_KEPT = 8;
    /** And of all classes as much as of so many. */
    private static final int CLASSES_KEPT = 2;
    /** In a map of as many segments or more, a session asks for its next ones ahead. */
    private static final int AHEAD_SEGMENTS = 64;

    /** What one request gives back at most. */
    private static final int SURPLUS_AT_ONCE = 8;

    private static final VarHandle RINGS = MethodHandles.arrayElementVarHandle(long[][].class);
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    /** By class: rings of words without a fingerprint, each with the incarnation to be used next; 0 where none is. */
    private final long[][] free = new long[SizeClasses.COUNT][];

    private final int[] first = new int[SizeClasses.COUNT];
    private final int[] count = new int[SizeClasses.COUNT];

    private final UncutSegments uncut = new UncutSegments();

    /** Not in a small map, of which a segment more in each session would be a large part. */
    private final boolean asksAhead;

    /** The block that was taken last. */
    private final long[] hand = new long[1];
    /** Blocks that a compare-and-swap whose outcome is unknown has named or taken out, or not. */
    private long[] unknown = new long[0];

    private final Mailbox mailbox;
    private final SpaceMemory space;
    private final ReachableRegions reach;
    private final int unitsKept;
    /** Of all classes together, what is not cut yet too, but spare segments of the class that is used up fastest. */
    private final int mostUnitsHeld;

    private long held;
    private long freeUnits;
    private final QuarantinedBlocks aside = new QuarantinedBlocks();
    /** What {@link #letGoOfEmptying} has looked at, and whether there was no room on the way for all. */
    private long[] emptyingSeen = {};

    private boolean owes;

    /** @param mailbox that surplus goes to, and what lies on a server that is to leave the map */
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

    /** Of what is held. What was asked for ahead stays where it is: it may be that all is to go back. */
    private long takeExact(int sizeClass) {
        long block = takeFree(sizeClass);
        return block != NONE ? block : takeCut(sizeClass);
    }

    /** The first free block that may be used; those before it, of servers that leave, go back. */
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
     * Looks whether other segments are being emptied than before, or servers leave or stay, and gives back what is held
     * of them. Costs a read where nothing has changed.
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
            // Where all may be used, none is moved: who looks at what is held would look for it where it was.
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

    /** What lies on a server that stays after all goes back there; what was on one that has left is nobody's. */
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

    /** The next of a class that is to go back, whose server need not be reached for that. */
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

    /** Whether a block that was taken may still be named by a slot: neither its server nor its segment goes. */
    public boolean mayUse(long block) {
        return space.mayUse(block);
    }

    /**
     * A block of a segment that is being emptied goes back; of a server that leaves, it waits for what becomes of that;
     * of one that has left, it is nobody's.
     *
     * @return whether there was room for it on the way
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
     * Takes over what the services gave, if they have answered, for requests that use it at once: segments of their
     * class are begun, so the next ones are asked for.
     *
     * @param wantedClass {@link SizeClasses#COUNT} where they are of several
     * @return the largest class of blocks; 0 for segments or nothing
     */
    public int takeGiven(int wantedClass) {
        // Once: the answer may come at any time.
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

    /** There is an answer. */
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
     * Takes over a block whose word this session's compare-and-swap has taken out of the table.
     *
     * @param word as it was in its slot
     */
    public void reclaim(long word) {
        int incarnation = SlotWord.incarnation(word) + 1;
        // Where there is none left, its words would come back while somebody may hold one: that is 0.
        giveBack(SlotWord.live(SlotWord.place(word), incarnation & SlotWord.INCARNATIONS - 1, 0, SlotWord.units(word)));
    }

    /** Takes back a block that no slot has named since it was taken. */
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

    /** Whether a block is kept, or else goes back. */
    private boolean accept(long word) {
        long block = SlotWord.block(word);
        if (!space.mayUse(block) && letGo(block)) {
            return false;
        }
        if (SlotWord.incarnation(block) == 0) {
            if (!mailbox.giveBack(block)) {
                keepUnknown(block);
            }
            return false;
        }
        put(block);
        return true;
    }

    /** The class that most of what is held is of. */
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

    /** @param left blocks that it keeps at least */
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
     * Gives all back but blocks of a class, the largest first, as far as there is room for them on the way.
     *
     * @param sizeClass -1: all of any class
     * @return whether there were any
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

    /** What has become of a block is not known: it is the session's until its process ends. 0 is none. */
    public void keepUnknown(long block) {
        if (block != NONE) {
            long[] more = Arrays.copyOf(unknown, unknown.length + 1);
            more[unknown.length] = block;
            VarHandle.releaseFence();
            unknown = more;
        }
    }

    /** Whether there are such. */
    public boolean knowsAll() {
        return unknown.length == 0;
    }

    /** Any thread: adds what is not cut yet, is free, and was taken last, in this order; see {@link HeldBlocks}. */
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

    /** The last block that was taken is a request's now, which says so itself. */
    public void emptyHand() {
        WORDS.setRelease(hand, 0, NONE);
    }

    /** All free blocks, those that are not cut yet too, as words without a fingerprint. */
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

    /** Whether there are free blocks, not cut yet or cut. */
    public boolean holdsAny() {
        return freeUnits > 0 || !uncut.isEmpty();
    }

    /** Free blocks, those not cut yet aside. */
    long held() {
        return held;
    }
}
