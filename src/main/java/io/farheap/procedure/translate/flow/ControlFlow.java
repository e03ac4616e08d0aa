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
 * Blocks and loops of a list of instructions. A loop is a strongly connected set of blocks; without its head it falls
 * into the loops within it. So each circle of blocks has a head, also where it can be entered at several blocks.
 */
public final class ControlFlow {

    private static final int DEEPEST = 64;

    /**
     * @param blocks all of it
     * @param innermost whether no loop is within it
     * @param fuel of a turn, at most: that of its blocks which are in no loop within it
     */
    public record Loop(int head, int depth, boolean oneEntry, BitSet blocks, boolean innermost, long fuel) {}

    private final RefusalMessages refusal;
    private final List<Op> ops;
    /** First instruction of each block, and behind the last. */
    private final int[] starts;

    private final int[] ends;
    /** Of each instruction; -1 where no way leads to it. */
    private final int[] blocks;

    private final int[][] next;
    private final int[][] before;
    /** By block. */
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

    // Loops, where streams would be shorter: a server's first translation is slow enough without loading them.
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

    public int count() {
        return starts.length;
    }

    public int first(int block) {
        return starts[block];
    }

    /** The block's last instruction. */
    public int last(int block) {
        return ends[block];
    }

    int[] next(int block) {
        return next[block];
    }

    int[] before(int block) {
        return before[block];
    }

    /** That an instruction is in. */
    public int block(int index) {
        return blocks[index];
    }

    /** Null where the block is no loop's head. */
    public @Nullable Loop loop(int block) {
        return heads[block];
    }

    public int line(int block) {
        return ops.get(starts[block]).line();
    }

    /** Of all its instructions. */
    public int fuel(int block) {
        int sum = 0;
        int last = last(block);
        for (int i = starts[block]; i <= last; i++) {
            sum += StackEffects.fuel(ops.get(i));
        }
        return sum;
    }
}
