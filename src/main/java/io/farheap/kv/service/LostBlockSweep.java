package io.farheap.kv.service;

import io.farheap.kv.format.BlockAudit;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SlotWord;
import io.farheap.server.contract.SpaceListener;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * Finds the lost blocks of one server: those that dead processes held. Calls of one client's keeper, the collector,
 * drive it; the collector also reads the table. If the collector dies, another one begins again. One thread at a time.
 *
 * <p><b>Phases.</b> First all blocks of all segments are suspects, except those in the pools. HOLD_A and SCAN_A remove
 * the blocks that a living process's session holds, or that a slot names; few are left. NOTE records what their headers
 * say of the last writer: the version, which is new with each set, and the incarnation, which is new with each
 * take-over and so shows a touch, which keeps the version. HOLD_B, SCAN_B and HOLD_C again remove blocks that are held
 * or named, and CHECK removes blocks that have another version or incarnation by now or went to a pool. The rest is
 * lost.
 *
 * <p><b>Why a lost block belongs to no living process.</b> Say that a block is in use, and that no process has ended
 * since NOTE (if one ends, the sweep begins again). A process records a block as held before the compare-and-swap that
 * may take it over, and until the compare-and-swap that names it has succeeded. A block that is handed out is held from
 * the answer on, and no process reports while it waits for an answer. So at each moment the block is in a slot, held,
 * or in a pool.
 *
 * <ul>
 *   <li>If no process took it over between NOTE and that process's HOLD_C: it was in one slot from before SCAN_B to its
 *       end, and the scan has seen it; or one process held it before HOLD_B, and HOLD_B has seen it; or it was named
 *       between NOTE and HOLD_B, and stays in that slot during SCAN_B.
 *   <li>If a process did take it over in that time: the last one that did holds it at HOLD_C, which sees it; or has
 *       given it to a pool; or has named it in a slot, and before that has written it with an incarnation of its own,
 *       which CHECK sees. Earlier take-overs do not matter.
 *   <li>If a process took it over after HOLD_C: until then it was in a slot, and the two points above hold for that
 *       time.
 * </ul>
 *
 * <p>A process does not look at its blocks in one moment, as its sessions continue. The look finds the blocks that were
 * held during all of it: a session that moves a block adds it in the new place before it removes it from the old one,
 * and the look visits places in the order of these moves, and the first place once more at the end. A block that was
 * free, was written and became free again within one look may be missed, but it has a new version, or a new incarnation
 * if it was taken over.
 *
 * <p>Dead processes write nothing any more: {@link SpaceListener#openingEnded} guarantees it, and with several servers
 * no sweep begins until all have reported it. So a lost block's header has the highest incarnation that any word has
 * named it with, and the next one is safe to use.
 */
final class LostBlockSweep {

    static final int IDLE = 0;
    static final int BUILD = 1;
    static final int HOLD_A = 2;
    static final int SCAN_A = 3;
    static final int NOTE = 4;
    static final int HOLD_B = 5;
    static final int SCAN_B = 6;
    static final int HOLD_C = 7;
    static final int CHECK = 8;

    /** The limit of one call, so that a server thread is soon free for other clients. */
    private static final int SEGMENTS_A_STEP = 32;

    private static final int BLOCKS_A_STEP = 512;
    /** The limit of one round; more rounds follow. */
    private static final int MOST_NOTED = 1 << 16;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;
    private static final long INCARNATION_MASK = SlotWord.INCARNATIONS - 1;

    private final BlockStore blocks;
    private final MapMembers members;

    private int phase = IDLE;
    private long round;
    /** The place where the phase continues: a region, and a segment, unit or number in it. */
    private int region;

    private int position;

    private int[] notedRegion = new int[0];
    private int[] notedUnit = new int[0];
    private long[] notedVersion = new long[0];
    private int[] notedIncarnation = new int[0];
    private int noted;
    private boolean more;

    // The results of the round.
    private long total;
    private long held;
    private long named;
    private long lost;
    private long wrong;
    private final long[] twice = new long[MapCalls.MOST_TWICE];
    private int twiceCount;

    LostBlockSweep(BlockStore blocks, MapMembers members) {
        this.blocks = blocks;
        this.members = members;
    }

    long round() {
        return round;
    }

    int phase() {
        return phase;
    }

    boolean running() {
        return phase != IDLE;
    }

    /** Whether some lost blocks could not be recorded in this round. */
    boolean more() {
        return more;
    }

    void begin() {
        abandon();
        round++;
        more = false;
        noted = 0;
        total = held = named = lost = wrong = twiceCount = 0;
        enter(BUILD);
    }

    void abandon() {
        phase = IDLE;
        for (int i = 0; i < blocks.regions(); i++) {
            blocks.at(i).forgetSuspects();
        }
        notedRegion = new int[0];
        notedUnit = new int[0];
        notedVersion = new long[0];
        notedIncarnation = new int[0];
    }

    private void enter(int next) {
        phase = next;
        region = 0;
        position = 0;
    }

    /** Whether a process must report the blocks that it holds. */
    boolean wants(MapMember member) {
        return isHold(phase) && !(member.reportedRound == round && member.reportedPhase == phase);
    }

    private static boolean isHold(int phase) {
        return phase == HOLD_A || phase == HOLD_B || phase == HOLD_C;
    }

    private static boolean isScan(int phase) {
        return phase == SCAN_A || phase == SCAN_B;
    }

    /**
     * Accepts a part of a process's report of the blocks that it holds.
     *
     * @return false if the report belongs to a phase that has ended
     */
    boolean hold(MapMember member, long ofRound, long ofPhase, boolean last) {
        if (ofRound != round || ofPhase != phase || !isHold(phase)) {
            return false;
        }
        if (last) {
            member.reportedRound = round;
            member.reportedPhase = phase;
        }
        return true;
    }

    boolean scanning(long ofRound, long ofPhase) {
        return ofRound == round && ofPhase == phase && isScan(phase);
    }

    /** The collector's scan of the table has ended. */
    void scanned() {
        enter(phase + 1);
    }

    /** Counts a block that is held or named, and removes it from the suspects. */
    void seen(long word) {
        RegionBlocks of = blocks.find(word);
        boolean was = of != null && of.clear(blocks.unit(word));
        if (phase > SCAN_A) {
            return;
        }
        if (phase == HOLD_A) {
            held++;
        } else {
            named++;
        }
        if (of == null) {
            wrong++;
        } else if (!was && twiceCount < twice.length) {
            twice[twiceCount++] = word;
        }
    }

    /**
     * Continues by a little.
     *
     * @param memory of the server's regions of the map, in the space's order
     * @return what the collector must do next: one of {@link MapCalls}
     */
    long step(IntFunction<MemorySegment> memory) {
        switch (phase) {
            case BUILD -> build();
            case HOLD_A, HOLD_B, HOLD_C -> {
                if (members.living().stream().anyMatch(this::wants)) {
                    return MapCalls.WAIT;
                }
                enter(phase + 1);
            }
            case SCAN_A, SCAN_B -> {
                return MapCalls.SCAN;
            }
            case NOTE -> note(memory);
            case CHECK -> {
                if (check(memory)) {
                    abandon();
                    return MapCalls.DONE;
                }
            }
            default -> {
                return MapCalls.DONE;
            }
        }
        return MapCalls.GO_ON;
    }

    private void build() {
        for (int i = 0; i < SEGMENTS_A_STEP; i++) {
            if (region == blocks.regions()) {
                enter(HOLD_A);
                return;
            }
            RegionBlocks of = blocks.at(region);
            if (position < of.handedOut()) {
                total += of.suspect(position++);
            } else {
                region++;
                position = 0;
            }
        }
    }

    private void note(IntFunction<MemorySegment> memory) {
        for (int i = 0; i < BLOCKS_A_STEP; i++) {
            if (region == blocks.regions()) {
                enter(HOLD_B);
                return;
            }
            RegionBlocks of = blocks.at(region);
            int unit = of.nextSuspect(position, BLOCKS_A_STEP);
            if (unit == Integer.MIN_VALUE) {
                region++;
                position = 0;
            } else if (unit < 0) {
                position = -1 - unit;
                return;
            } else {
                position = unit + 1;
                if (noted == MOST_NOTED) {
                    more = true;
                    of.clear(unit);
                } else {
                    note(region, unit, memory.apply(region));
                }
            }
        }
    }

    private void note(int ofRegion, int unit, MemorySegment bytes) {
        if (noted == notedUnit.length) {
            int length = Math.max(64, 2 * noted);
            notedRegion = Arrays.copyOf(notedRegion, length);
            notedUnit = Arrays.copyOf(notedUnit, length);
            notedVersion = Arrays.copyOf(notedVersion, length);
            notedIncarnation = Arrays.copyOf(notedIncarnation, length);
        }
        notedRegion[noted] = ofRegion;
        notedUnit[noted] = unit;
        notedVersion[noted] = version(bytes, unit);
        notedIncarnation[noted++] = incarnation(bytes, unit);
    }

    private boolean isAsNoted(MemorySegment bytes, int unit) {
        return version(bytes, unit) == notedVersion[position] && incarnation(bytes, unit) == notedIncarnation[position];
    }

    private static int incarnation(MemorySegment memory, int unit) {
        return BlockFormat.incarnation(memory, (long) unit * BlockFormat.UNIT_BYTES);
    }

    private static long version(MemorySegment memory, int unit) {
        return BlockFormat.version(memory, (long) unit * BlockFormat.UNIT_BYTES);
    }

    /** @return whether all were checked */
    private boolean check(IntFunction<MemorySegment> memory) {
        for (int i = 0; i < BLOCKS_A_STEP; i++) {
            if (position == noted) {
                return true;
            }
            int ofRegion = notedRegion[position];
            int unit = notedUnit[position];
            RegionBlocks of = blocks.at(ofRegion);
            MemorySegment bytes = memory.apply(ofRegion);
            if (of.isSuspect(unit) && !of.isPooled(unit) && isAsNoted(bytes, unit)) {
                long incarnation = bytes.get(WORD, (long) unit * BlockFormat.UNIT_BYTES) & INCARNATION_MASK;
                blocks.put(of, unit, (int) (incarnation + 1 & INCARNATION_MASK));
                lost++;
            }
            position++;
        }
        return false;
    }

    /** The result of the sweep, after the end of a round. */
    BlockAudit account(long pooled, long worn) {
        return new BlockAudit(total, pooled, worn, held, named, lost, wrong);
    }

    int twice(long[] into, int at) {
        System.arraycopy(twice, 0, into, at, twiceCount);
        return twiceCount;
    }
}
