package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.Type;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Symbolic execution of one turn of an innermost loop: each local variable is a linear expression of the variables'
 * values when the turn begins. The analysis first assumes that each variable changes in a turn by an expression of
 * variables that do not change. It executes the turn; variables for which the assumption is wrong become unknown, and
 * the turn is executed again, until the assumption holds or the rounds are used up.
 */
final class LoopIteration {

    private static final int MOST_ROUNDS = 8;

    private final List<Op> ops;
    private final ControlFlow flow;
    private final int[] blocks;
    private final Operands start;
    private final BitSet unknown = new BitSet();
    /** By instruction of the access. */
    private final Map<Integer, LinearExpression> addresses = new TreeMap<>();
    /** By block: the comparison of its branch. */
    private final Map<Integer, LinearOperands.LinearComparison> compared = new HashMap<>();

    private LoopIteration(List<Op> ops, ControlFlow flow, int[] blocks, Operands start) {
        this.ops = ops;
        this.flow = flow;
        this.blocks = blocks;
        this.start = start;
    }

    /**
     * Analyses the loop.
     *
     * @param blocks the head, and each block after those that lead to it
     * @param start types at the head
     * @param always blocks that each turn goes through
     * @return null if an address does not advance by an expression of unchanged variables, or there are too many
     *     conditions
     */
    static @Nullable LoopConditions of(List<Op> ops, ControlFlow flow, int[] blocks, Operands start, BitSet always) {
        LoopIteration turn = new LoopIteration(ops, flow, blocks, start);
        for (int round = 0; round < MOST_ROUNDS; round++) {
            LinearOperands end = turn.execute();
            if (end == null) {
                return null;
            }
            Map<Integer, LinearExpression> steps = turn.steps(end);
            if (steps != null) {
                LoopConditions rooms = new LoopConditions(steps, slot -> turn.start.locals[slot] == Type.INT);
                return rooms.addresses(turn.addresses) && turn.branches(rooms, always) ? rooms : null;
            }
        }
        return null;
    }

    /** Executes a turn; null if the address of an access is unknown. */
    private @Nullable LinearOperands execute() {
        Map<Integer, LinearOperands> states = new HashMap<>();
        states.put(blocks[0], LinearOperands.start(start, unknown));
        addresses.clear();
        compared.clear();
        LinearOperands end = null;
        for (int block : blocks) {
            LinearOperands state = Objects.requireNonNull(states.get(block));
            if (!execute(block, state)) {
                return null;
            }
            for (int next : flow.next(block)) {
                LinearOperands there = next == blocks[0] ? end : states.get(next);
                if (there != null) {
                    there.join(state);
                } else if (next == blocks[0]) {
                    end = state.copy();
                } else {
                    states.put(next, state.copy());
                }
            }
        }
        return end;
    }

    private boolean execute(int block, LinearOperands state) {
        for (int i = flow.first(block); i <= flow.last(block); i++) {
            Op op = ops.get(i);
            if (op instanceof Op.Jump jump) {
                LinearOperands.LinearComparison found = state.compared(jump.opcode());
                if (found != null) {
                    compared.put(block, found);
                }
            }
            LinearExpression address = state.apply(op);
            if (address != null) {
                addresses.put(i, address);
            } else if (op instanceof Op.ApiCall on && on.method().accesses()) {
                return false;
            }
        }
        return true;
    }

    /**
     * How much each variable changes in a turn; null if a variable became unknown, so that this round's results are
     * void.
     */
    private @Nullable Map<Integer, LinearExpression> steps(LinearOperands end) {
        Map<Integer, LinearExpression> steps = new HashMap<>();
        BitSet wrong = new BitSet();
        for (int slot = 0; slot < end.locals.length; slot++) {
            Type type = start.locals[slot];
            if ((type == Type.INT || type == Type.LONG) && !unknown.get(slot)) {
                LinearExpression now = end.locals[slot];
                LinearExpression step = now == null
                        ? null
                        : now.plus(LinearExpression.ofLocal(slot).times(-1));
                if (step == null) {
                    wrong.set(slot);
                } else if (!step.isConstant() || step.constant() != 0) {
                    steps.put(slot, step);
                }
            }
        }
        for (Map.Entry<Integer, LinearExpression> entry : steps.entrySet()) {
            for (int slot : entry.getValue().terms().keySet()) {
                if (steps.containsKey(slot) || wrong.get(slot)) {
                    wrong.set(entry.getKey());
                }
            }
        }
        unknown.or(wrong);
        return wrong.isEmpty() ? steps : null;
    }

    /** Adds the branches out of the loop that each turn reaches and whose comparison is of linear expressions. */
    private boolean branches(LoopConditions rooms, BitSet always) {
        for (int block : blocks) {
            LinearOperands.LinearComparison found = compared.get(block);
            Op last = ops.get(flow.last(block));
            if (found == null || !always.get(block) || !(last instanceof Op.Jump jump)) {
                continue;
            }
            boolean targetStays = stays(flow.block(jump.target()));
            boolean nextStays = stays(flow.block(flow.last(block) + 1));
            if (targetStays != nextStays) {
                rooms.branch(block, jump.opcode(), targetStays, found);
            }
        }
        return rooms.fit();
    }

    private boolean stays(int block) {
        for (int other : blocks) {
            if (other == block) {
                return true;
            }
        }
        return false;
    }
}
