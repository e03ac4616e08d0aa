package io.farheap.procedure.translate.flow;

import io.farheap.procedure.translate.instruction.Op;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;

/** Liveness: the local variables that may be read before they are written again. A resume point keeps only these. */
public final class Liveness {

    private final List<Op> ops;
    private final ControlFlow flow;
    /** Live variables at the start of each block. */
    private final BitSet[] live;

    public Liveness(List<Op> ops, ControlFlow flow) {
        this.ops = ops;
        this.flow = flow;
        this.live = new BitSet[flow.count()];
        ArrayDeque<Integer> due = new ArrayDeque<>();
        boolean[] queued = new boolean[flow.count()];
        for (int block = 0; block < flow.count(); block++) {
            live[block] = new BitSet();
            due.push(block);
            queued[block] = true;
        }
        while (!due.isEmpty()) {
            int block = due.pop();
            queued[block] = false;
            BitSet found = before(flow.first(block), block);
            if (!found.equals(live[block])) {
                live[block] = found;
                for (int other : flow.before(block)) {
                    if (!queued[other]) {
                        queued[other] = true;
                        due.push(other);
                    }
                }
            }
        }
    }

    /** The variables that are live before an instruction of a block. */
    public BitSet before(int index, int block) {
        BitSet found = new BitSet();
        for (int other : flow.next(block)) {
            found.or(live[other]);
        }
        for (int i = flow.last(block); i >= index; i--) {
            Op op = ops.get(i);
            if (op instanceof Op.Store store) {
                found.clear(store.slot());
            } else if (op instanceof Op.Load load) {
                found.set(load.slot());
            } else if (op instanceof Op.Increment increment) {
                found.set(increment.slot());
            }
        }
        return found;
    }
}
