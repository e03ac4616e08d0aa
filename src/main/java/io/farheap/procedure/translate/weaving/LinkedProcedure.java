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
import io.farheap.procedure.translate.instruction.StackEffects;
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
     * @param access the access before which the code leaves; null where fuel is compared
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

        /** Whether the code leaves there if its fuel is used up. */
        boolean compares() {
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

    /**
     * The most units of fuel between two comparisons. A unit of some instructions takes some 10 ns, if their operands
     * are chosen for that.
     */
    private static final int MOST_UNCOMPARED = 1024;

    final List<Op> ops;
    final int locals;
    final ControlFlow flow;
    public final List<Point> points = new ArrayList<>();
    /** Heads by the first instruction of their block, accesses by their instruction. */
    private final @Nullable Point[] heads;

    private final @Nullable Point[] accesses;
    /** Comparisons of fuel between heads, by instruction. */
    private final @Nullable Point[] checks;
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
        this.checks = new Point[ops.size()];
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
        compareBetweenHeads(refusal, reached, liveness);
    }

    /**
     * Sets comparisons of fuel where a way between two heads takes more than {@link #MOST_UNCOMPARED} units: otherwise
     * code without loops would run to its end in one slice.
     */
    private void compareBetweenHeads(RefusalMessages refusal, @Nullable Operands[] reached, Liveness liveness) {
        // By block: most units since the last comparison when it begins.
        int[] before = new int[flow.count()];
        for (int block : flow.order()) {
            int units = flow.loop(block) == null ? before[block] : 0;
            for (int i = flow.first(block); i <= flow.last(block); i++) {
                int own = StackEffects.fuel(ops.get(i));
                if (units > 0 && units + own > MOST_UNCOMPARED) {
                    Point made = describe(i, block, reached, liveness, null, false);
                    // It may have too many values to keep here, and fewer a little later.
                    if (made.kept() <= CallFrame.SLOTS || units + own > 4 * MOST_UNCOMPARED) {
                        checks[i] = point(refusal, i, block, reached, liveness, null, false);
                        units = 0;
                    }
                }
                units += own;
            }
            for (int next : flow.next(block)) {
                before[next] = Math.max(before[next], units);
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
        Point point = describe(index, block, reached, liveness, access, fast);
        if (point.kept() > CallFrame.SLOTS) {
            Op op = ops.get(index);
            throw refusal.at(
                    op.line(),
                    TypeFlow.describe(op),
                    point.kept() + " local variables and operands are needed after it; at most " + CallFrame.SLOTS);
        }
        points.add(point);
        return point;
    }

    private Point describe(
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
        return new Point(points.size() + 1, access, fast, operands, slots, types, op.line());
    }

    @Nullable
    Point head(int index) {
        return heads[index];
    }

    /** The comparison of fuel before an instruction, or null. */
    @Nullable
    Point check(int index) {
        return checks[index];
    }

    /** Units of fuel from an instruction of a block on, up to the block's end or the next comparison in it. */
    int fuel(int index, int block) {
        int units = 0;
        int last = flow.last(block);
        for (int i = index; i <= last && (i == index || checks[i] == null); i++) {
            units += StackEffects.fuel(ops.get(i));
        }
        return units;
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
