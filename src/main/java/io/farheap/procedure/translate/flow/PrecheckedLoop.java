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
 * An innermost loop whose accesses all advance by the same from turn to turn, so that fuel and window are compared once
 * for many turns: how many they are good for follows from where an access begins, how far it advances, and the room
 * that there is.
 *
 * @param head its first block
 * @param blocks all, each behind those that lead to it within a turn
 * @param charged by block: what a turn has taken when the block has begun, of blocks that each turn goes through
 * @param always blocks that each turn goes through
 * @param sure blocks of these whose branch out of the loop is not taken if the rooms hold
 * @param rooms what must hold in each turn
 * @param strides what must be in the window, turn by turn
 * @param places by instruction, of accesses that are in strides
 * @param exits first the head, where the next turn begins
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
     * Where the loop leads to.
     *
     * @param target an instruction
     * @param slots local variables that the loop changes, and that are needed there
     * @param types of these
     */
    public record Exit(int target, List<Integer> slots, List<Type> types) {}

    /** Of all blocks that each turn goes through. */
    public int perTurn(ControlFlow flow) {
        int sum = 0;
        for (int block = always.nextSetBit(0); block >= 0; block = always.nextSetBit(block + 1)) {
            sum += flow.fuel(block);
        }
        return sum;
    }

    /** Null where the loop is not such a one. */
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

    /** Null where operands are kept on the stack, or too many variables. */
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

    /** Whether fuel has a bound, and there is something to gain. */
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

    /** By Kahn: a block comes when all that lead to it within a turn have come. */
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

    /** Without such a block no way leads through a turn. */
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

    /** All ways to a block go through the same of those that each turn goes through. */
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
