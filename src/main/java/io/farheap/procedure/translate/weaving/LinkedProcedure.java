package io.farheap.procedure.translate.weaving;

import io.farheap.procedure.translate.flow.ControlFlow;
import io.farheap.procedure.translate.flow.Inliner;
import io.farheap.procedure.translate.flow.Liveness;
import io.farheap.procedure.translate.flow.PrecheckedLoop;
import io.farheap.procedure.translate.flow.TypeFlow;
import io.farheap.procedure.translate.instruction.CallMethod;
import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.Type;
import io.farheap.procedure.translate.running.CallFrame;
import io.farheap.procedure.translate.running.CodeShape;
import io.farheap.procedure.translate.running.TranslatedCode;
import io.farheap.procedure.translate.running.Translation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A procedure as one list of verified instructions, with its resume points and its prechecked loops: the input of the
 * weavers.
 */
public final class LinkedProcedure {

    /**
     * A resume point: the code can leave and resume there, and keeps these values.
     *
     * @param number from 1; 0 is the procedure's start
     * @param access the access before which the code leaves; null at a loop's head
     * @param fast whether {@link TranslatedCode#fast} can begin here
     * @param operands types of the operands below those of the access, from the bottom
     * @param slots local variables that are live
     * @param types their types
     */
    public record Point(
            int number,
            @Nullable CallMethod access,
            boolean fast,
            List<Type> operands,
            List<Integer> slots,
            List<Type> types,
            int line) {

        boolean head() {
            return access == null;
        }

        /** Type of a live local variable. */
        Type type(int slot) {
            return types.get(slots.indexOf(slot));
        }

        /** How many longs the point keeps: a {@code Call} needs none. */
        int kept() {
            return kept(operands) + kept(types);
        }

        private static int kept(List<Type> types) {
            int count = 0;
            for (Type type : types) {
                count += type == Type.CALL ? 0 : 1;
            }
            return count;
        }
    }

    final List<Op> ops;
    final int locals;
    final ControlFlow flow;
    public final List<Point> points = new ArrayList<>();
    /** Heads by the first instruction of their block, accesses by their instruction. */
    private final @Nullable Point[] heads;

    private final @Nullable Point[] accesses;
    /** By the first instruction of the head's block. */
    private final @Nullable PrecheckedLoop[] aheads;

    /** Whether the procedure writes to the cache. */
    public boolean writes;
    /** Loops whose turns can be counted before they run. */
    public final List<PrecheckedLoop> ahead = new ArrayList<>();

    public LinkedProcedure(RefusalMessages refusal, Inliner.FlatCode flat, @Nullable Operands[] reached) {
        this.ops = flat.ops();
        this.locals = flat.locals();
        this.flow = new ControlFlow(refusal, ops, reached);
        this.heads = new Point[ops.size()];
        this.accesses = new Point[ops.size()];
        this.aheads = new PrecheckedLoop[ops.size()];
        Liveness liveness = new Liveness(ops, flow);
        for (int block = 0; block < flow.count(); block++) {
            int first = flow.first(block);
            ControlFlow.Loop loop = flow.loop(block);
            if (loop != null) {
                heads[first] = point(refusal, first, block, reached, liveness, null, loop.depth() == 1);
                PrecheckedLoop checked = PrecheckedLoop.of(ops, flow, liveness, block, reached);
                if (checked != null) {
                    aheads[first] = checked;
                    ahead.add(checked);
                }
            }
            int last = flow.last(block);
            for (int i = first; i <= last; i++) {
                if (ops.get(i) instanceof Op.ApiCall on && on.method().accesses()) {
                    writes |= on.method().writes();
                    accesses[i] = point(refusal, i, block, reached, liveness, on.method(), false);
                }
            }
        }
    }

    private Point point(
            RefusalMessages refusal,
            int index,
            int block,
            @Nullable Operands[] reached,
            Liveness liveness,
            @Nullable CallMethod access,
            boolean fast) {
        Op op = ops.get(index);
        Operands state = Objects.requireNonNull(reached[index]);
        // The access pops its own operands when it is repeated; the frame keeps them.
        int own = access == null ? 0 : access.effect.indexOf('>');
        List<Type> operands = new ArrayList<>();
        for (int i = 0; i < state.depth() - own; i++) {
            operands.add(state.operand(i));
        }
        List<Integer> slots = new ArrayList<>();
        List<Type> types = new ArrayList<>();
        BitSet live = liveness.before(index, block);
        for (int slot = live.nextSetBit(0); slot >= 0; slot = live.nextSetBit(slot + 1)) {
            Type type = state.locals[slot];
            if (type != null) {
                slots.add(slot);
                types.add(type);
            }
        }
        Point point = new Point(points.size() + 1, access, fast, operands, slots, types, op.line());
        if (point.kept() > CallFrame.SLOTS) {
            throw refusal.at(
                    op.line(),
                    TypeFlow.describe(op),
                    point.kept() + " local variables and operands are needed after it; at most " + CallFrame.SLOTS);
        }
        points.add(point);
        return point;
    }

    @Nullable
    Point head(int index) {
        return heads[index];
    }

    /** The prechecked loop whose head begins at this instruction, or null. */
    @Nullable
    PrecheckedLoop ahead(int index) {
        return aheads[index];
    }

    Point access(int index) {
        return Objects.requireNonNull(accesses[index]);
    }

    public CodeShape shape() {
        int count = points.size() + 1;
        int[] slots = new int[count];
        int[] lines = new int[count];
        boolean[] fast = new boolean[count];
        fast[0] = true;
        for (Point point : points) {
            slots[point.number()] = point.kept();
            lines[point.number()] = point.line();
            fast[point.number()] = point.fast();
        }
        return new CodeShape(slots, lines, fast);
    }

    public List<Translation.Loop> loops() {
        List<Translation.Loop> loops = new ArrayList<>();
        for (int block = 0; block < flow.count(); block++) {
            ControlFlow.Loop loop = flow.loop(block);
            if (loop != null) {
                loops.add(new Translation.Loop(flow.line(block), loop.depth(), loop.fuel()));
            }
        }
        loops.sort(java.util.Comparator.comparingInt(Translation.Loop::line));
        return List.copyOf(loops);
    }
}
