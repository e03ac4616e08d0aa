package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import io.farheap.procedure.translate.instruction.Operands;
import io.farheap.procedure.translate.instruction.RefusalMessages;
import io.farheap.procedure.translate.instruction.StackEffects;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Basic blocks and loops of a list of instructions.
 *
 * <p>A loop is a strongly connected set of blocks (each block reaches each other one), and one of its blocks is its
 * head. The search then removes the head and looks for loops in the rest of the set, and so on. So every cycle of
 * blocks contains at least one head, even if the cycle can be entered at several blocks.
 *
 * <p>That is why the time of a call is bounded. The woven code subtracts a block's fuel when the block begins, and
 * compares the fuel that is left with 0 at each head. A cycle contains a head, and between two heads no block is
 * executed twice; where the blocks between them take much, it compares there too ({@code LinkedProcedure}), and
 * subtracts the fuel of a part of a block when that part begins. So a slice exceeds its fuel by what is between two
 * comparisons (and the bytes that a copy adds), and then the code leaves; the slices of a call have its fuel limit
 * together ({@code CallContext.run}), and after that the call ends. Counted turns ({@link PrecheckedLoop}) do not
 * compare fuel, but are no more than the fuel that is left pays for.
 */
public final class ControlFlow {

    private static final int DEEPEST = 64;

    /**
     * A loop.
     *
     * @param head the block at which fuel is compared
     * @param depth 1 for an outermost loop
     * @param oneEntry whether the loop is entered at its head only
     * @param blocks all its blocks, with those of the loops in it
     * @param innermost whether it contains no other loop
     * @param fuel most fuel of a turn: the sum of its blocks that are in none of the loops within it
     */
    public record Loop(int head, int depth, boolean oneEntry, BitSet blocks, boolean innermost, long fuel) {}

    private final RefusalMessages refusal;
    private final List<Op> ops;
    /** The first instruction of each block. */
    private final int[] starts;

    private final int[] ends;
    /** The block of each instruction; -1 if the instruction cannot be reached. */
    private final int[] blocks;

    private final int[][] next;
    private final int[][] before;
    /** By block; null if the block is not the head of a loop. */
    private final @Nullable Loop[] heads;

    public ControlFlow(RefusalMessages refusal, List<Op> ops, @Nullable Operands[] reached) {
        this.refusal = refusal;
        this.ops = ops;
        this.blocks = new int[ops.size()];
        this.starts = findStarts(reached);
        int count = starts.length;
        this.ends = new int[count];
        for (int i = 0; i < blocks.length; i++) {
            if (blocks[i] >= 0) {
                ends[blocks[i]] = i;
            }
        }
        this.next = new int[count][];
        this.before = new int[count][];
        this.heads = new Loop[count];
        connect();
        BitSet all = new BitSet();
        all.set(0, count);
        findLoops(all, 1);
    }

    private int[] findStarts(@Nullable Operands[] reached) {
        BitSet leaders = new BitSet();
        leaders.set(0);
        for (int i = 0; i < ops.size(); i++) {
            int[] targets = Op.targets(ops.get(i));
            for (int target : targets) {
                leaders.set(target);
            }
            if (targets.length > 0 || Op.ends(ops.get(i))) {
                leaders.set(i + 1);
            }
        }
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < ops.size(); i++) {
            if (reached[i] == null) {
                blocks[i] = -1;
                continue;
            }
            if (leaders.get(i) || (i > 0 && reached[i - 1] == null)) {
                found.add(i);
            }
            blocks[i] = found.size() - 1;
        }
        return array(found);
    }

    // Loops instead of streams: a server's first translation is slow enough without loading the streams' classes.
    private static int[] array(List<Integer> numbers) {
        int[] array = new int[numbers.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = numbers.get(i);
        }
        return array;
    }

    private void connect() {
        List<List<Integer>> into = new ArrayList<>();
        for (int block = 0; block < starts.length; block++) {
            into.add(new ArrayList<>());
        }
        for (int block = 0; block < starts.length; block++) {
            int last = last(block);
            Op op = ops.get(last);
            int[] targets = Op.targets(op);
            int[] out = Arrays.copyOf(targets, targets.length + (Op.ends(op) ? 0 : 1));
            if (out.length > targets.length) {
                out[targets.length] = last + 1;
            }
            List<Integer> places = new ArrayList<>();
            for (int at : out) {
                if (!places.contains(blocks[at])) {
                    places.add(blocks[at]);
                }
            }
            next[block] = array(places);
            for (int other : next[block]) {
                into.get(other).add(block);
            }
        }
        for (int block = 0; block < starts.length; block++) {
            before[block] = array(into.get(block));
        }
    }

    private void findLoops(BitSet among, int depth) {
        for (BitSet circle : StronglyConnectedComponents.of(among, next, before)) {
            if (depth > DEEPEST) {
                throw refusal.at(
                        line(circle.nextSetBit(0)), "a loop", "loops are nested more than " + DEEPEST + " deep");
            }
            int entries = 0;
            int head = -1;
            for (int block = circle.nextSetBit(0); block >= 0; block = circle.nextSetBit(block + 1)) {
                if (entered(block, circle)) {
                    entries++;
                    head = head < 0 ? block : head;
                }
            }
            head = head < 0 ? circle.nextSetBit(0) : head;
            BitSet rest = (BitSet) circle.clone();
            rest.clear(head);
            BitSet own = (BitSet) circle.clone();
            for (BitSet inner : StronglyConnectedComponents.of(rest, next, before)) {
                own.andNot(inner);
            }
            long fuel = 0;
            for (int block = own.nextSetBit(0); block >= 0; block = own.nextSetBit(block + 1)) {
                fuel += fuel(block);
            }
            heads[head] = new Loop(head, depth, entries <= 1, circle, own.equals(circle), fuel);
            findLoops(rest, depth + 1);
        }
    }

    private boolean entered(int block, BitSet circle) {
        boolean entered = block == 0;
        for (int other : before[block]) {
            entered |= !circle.get(other);
        }
        return entered;
    }

    /** Number of blocks. */
    public int count() {
        return starts.length;
    }

    /** The block's first instruction. */
    public int first(int block) {
        return starts[block];
    }

    /** The block's last instruction. */
    public int last(int block) {
        return ends[block];
    }

    /** The blocks that may follow a block. */
    public int[] next(int block) {
        return next[block];
    }

    /** All blocks, each behind those that may come before it, apart from ways to a loop's head. */
    public int[] order() {
        int[] waitsFor = new int[starts.length];
        for (int block = 0; block < starts.length; block++) {
            waitsFor[block] = heads[block] == null ? before[block].length : 0;
        }
        int[] order = new int[starts.length];
        int known = 0;
        for (int block = 0; block < starts.length; block++) {
            if (waitsFor[block] == 0) {
                order[known++] = block;
            }
        }
        for (int done = 0; done < known; done++) {
            for (int other : next[order[done]]) {
                if (heads[other] == null && --waitsFor[other] == 0) {
                    order[known++] = other;
                }
            }
        }
        return order;
    }

    int[] before(int block) {
        return before[block];
    }

    /** The block that contains an instruction; -1 if the instruction cannot be reached. */
    public int block(int index) {
        return blocks[index];
    }

    /** The loop of which this block is the head, or null. */
    public @Nullable Loop loop(int block) {
        return heads[block];
    }

    /** Line of the source at which the block begins; 0 if unknown. */
    public int line(int block) {
        return ops.get(starts[block]).line();
    }

    /** Units of fuel of all instructions of a block. */
    public int fuel(int block) {
        int sum = 0;
        int last = last(block);
        for (int i = starts[block]; i <= last; i++) {
            sum += StackEffects.fuel(ops.get(i));
        }
        return sum;
    }
}
