package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.running.CallFrame;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An innermost loop whose turns can be counted before they run.
 *
 * <p>The idea: the usual code compares fuel at the loop's head and the window at each access, in each turn. In many
 * loops the addresses, and the variables that the exits compare, change by the same amount in each turn. Then the code
 * can compute once for how many turns all those comparisons would succeed, and run that many turns without them:
 *
 * <ol>
 *   <li>fuel: the fuel that is left, divided by the fuel of all the loop's blocks, since a turn takes no more than
 *       that;
 *   <li>each bound and each stride: the number of turns until the expression leaves its range, one division each
 *       ({@code CallFrame.turns});
 *   <li>the count of turns is the least of these, and at most {@link CallFrame#MOST}; if it is below
 *       {@link CallFrame#LEAST}, the usual code runs instead, and the attempt is repeated later.
 * </ol>
 *
 * <p>A counter in the written loop ends it after that many turns, whatever the procedure computes. It may end sooner,
 * by a branch out of the loop. In both cases the fuel that was taken is subtracted: for each turn the blocks that every
 * turn goes through ({@code always}) times the turns, and each other block when it begins. Fuel therefore cannot fall
 * below 0 within the counted turns, and the usual code continues with exactly the fuel that it would have left itself.
 * So counted turns neither lengthen a slice nor change what a call pays.
 *
 * @param head its first block
 * @param blocks all its blocks, each after those that lead to it within a turn
 * @param charged by block: fuel of the {@code always} blocks from the turn's start to the end of this block
 * @param always blocks that each full turn goes through
 * @param sure those of them whose branch out of the loop is not taken while the bounds hold
 * @param rooms bounds that must hold in each turn
 * @param strides groups of accesses that must be in the window in each turn
 * @param places by instruction: the place of an access in its stride
 * @param exits ways out of the counted turns; the first is the head itself, if all of them were taken
 */
public record PrecheckedLoop(
        int head,
        int[] blocks,
        int[] charged,
        BitSet always,
        BitSet sure,
        List<LoopConditions.LoopBound> rooms,
        List<LoopConditions.Stride> strides,
        Map<Integer, LoopConditions.StridePosition> places,
        List<Exit> exits) {

    private static final int MOST_BLOCKS = 64;
    private static final int MOST_OPS = 500;

    /**
     * A way out of the counted turns.
     *
     * @param target the instruction at which the usual code continues
     * @param slots local variables that the loop changes and that are live there
     * @param types their types
     */
    public record Exit(int target, List<Integer> slots, List<Type> types) {}

    /** Fuel of all the blocks that each turn goes through. */
    public int perTurn(ControlFlow flow) {
        int sum = 0;
        for (int block = always.nextSetBit(0); block >= 0; block = always.nextSetBit(block + 1)) {
            sum += flow.fuel(block);
        }
        return sum;
    }

    /** The loop with this head, or null if its turns cannot be counted. */
    public static @Nullable PrecheckedLoop of(
            List<Op> ops, ControlFlow flow, Liveness liveness, int head, @Nullable Operands[] reached) {
        ControlFlow.Loop loop = flow.loop(head);
        Operands start = reached[flow.first(head)];
        if (loop == null || start == null || !loop.innermost() || !loop.oneEntry() || !fits(ops, flow, loop.blocks())) {
            return null;
        }
        int[] blocks = order(flow, head, loop.blocks());
        BitSet always = always(flow, blocks);
        LoopConditions rooms = LoopIteration.of(ops, flow, blocks, start, always);
        List<Exit> exits = exits(ops, flow, liveness, blocks, reached);
        if (rooms == null || exits == null) {
            return null;
        }
        return new PrecheckedLoop(
                head,
                blocks,
                charged(flow, blocks, always),
                always,
                rooms.sure(),
                rooms.all(),
                rooms.strides(),
                rooms.places(),
                exits);
    }

    /** Null if an exit has operands on the stack, or too many variables to keep. */
    private static @Nullable List<Exit> exits(
            List<Op> ops, ControlFlow flow, Liveness liveness, int[] blocks, @Nullable Operands[] reached) {
        BitSet inside = new BitSet();
        BitSet changed = new BitSet();
        BitSet targets = new BitSet();
        for (int block : blocks) {
            inside.set(block);
            for (int i = flow.first(block); i <= flow.last(block); i++) {
                if (ops.get(i) instanceof Op.Store store) {
                    changed.set(store.slot());
                } else if (ops.get(i) instanceof Op.Increment by) {
                    changed.set(by.slot());
                }
            }
            for (int next : flow.next(block)) {
                targets.set(next);
            }
        }
        targets.andNot(inside);
        List<Exit> exits = new ArrayList<>();
        exits.add(exit(flow, liveness, blocks[0], changed, reached));
        for (int block = targets.nextSetBit(0); block >= 0; block = targets.nextSetBit(block + 1)) {
            exits.add(exit(flow, liveness, block, changed, reached));
        }
        for (Exit exit : exits) {
            Operands state = Objects.requireNonNull(reached[exit.target]);
            if (exit.slots().size() > CallFrame.SLOTS || state.depth() > 0) {
                return null;
            }
        }
        return exits;
    }

    private static Exit exit(
            ControlFlow flow, Liveness liveness, int block, BitSet changed, @Nullable Operands[] reached) {
        int target = flow.first(block);
        BitSet kept = liveness.before(target, block);
        kept.and(changed);
        Operands state = Objects.requireNonNull(reached[target]);
        List<Integer> slots = new ArrayList<>();
        List<Type> types = new ArrayList<>();
        for (int slot = kept.nextSetBit(0); slot >= 0; slot = kept.nextSetBit(slot + 1)) {
            Type type = state.locals[slot];
            if (type != null && type != Type.CALL) {
                slots.add(slot);
                types.add(type);
            }
        }
        return new Exit(target, slots, types);
    }

    /**
     * Whether the fuel of a turn has a bound (no copies), it has no atomics, and there are accesses, so that something
     * is gained.
     */
    private static boolean fits(List<Op> ops, ControlFlow flow, BitSet blocks) {
        int count = 0;
        int accesses = 0;
        for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
            for (int i = flow.first(block); i <= flow.last(block); i++, count++) {
                if (ops.get(i) instanceof Op.ApiCall on) {
                    switch (on.method().kind) {
                        case ATOMIC, COPY, COPY_RESULT -> {
                            return false;
                        }
                        case GET, PUT -> accesses++;
                        default -> {}
                    }
                }
            }
        }
        return accesses > 0 && count <= MOST_OPS && blocks.cardinality() <= MOST_BLOCKS;
    }

    /** Topological order (Kahn): a block follows when all blocks that lead to it within a turn have been placed. */
    private static int[] order(ControlFlow flow, int head, BitSet in) {
        int[] order = new int[in.cardinality()];
        BitSet placed = new BitSet();
        order[0] = head;
        placed.set(head);
        for (int count = 1; count < order.length; ) {
            int before = count;
            for (int block = in.nextSetBit(0); block >= 0; block = in.nextSetBit(block + 1)) {
                boolean due = !placed.get(block);
                for (int other : flow.before(block)) {
                    due &= placed.get(other);
                }
                if (due) {
                    placed.set(block);
                    order[count++] = block;
                }
            }
            if (count == before) {
                throw new IllegalStateException("a circle of blocks without the head");
            }
        }
        return order;
    }

    /** The blocks without which no path leads through a turn from the head back to the head. */
    private static BitSet always(ControlFlow flow, int[] blocks) {
        BitSet always = new BitSet();
        for (int without : blocks) {
            BitSet reached = new BitSet();
            reached.set(blocks[0]);
            boolean turns = false;
            for (int block : blocks) {
                if (block == without || !reached.get(block)) {
                    continue;
                }
                for (int next : flow.next(block)) {
                    turns |= next == blocks[0];
                    reached.set(next);
                }
            }
            if (!turns) {
                always.set(without);
            }
        }
        return always;
    }

    /** All paths to a block go through the same {@code always} blocks, so any predecessor gives the sum. */
    private static int[] charged(ControlFlow flow, int[] blocks, BitSet always) {
        int[] charged = new int[flow.count()];
        BitSet done = new BitSet();
        for (int block : blocks) {
            for (int other : flow.before(block)) {
                if (done.get(other)) {
                    charged[block] = charged[other];
                }
            }
            if (always.get(block)) {
                charged[block] += flow.fuel(block);
            }
            done.set(block);
        }
        return charged;
    }
}
