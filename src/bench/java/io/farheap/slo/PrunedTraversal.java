package io.farheap.slo;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Redy's search (section 5.2, figure 10): a pre-order traversal of the tree that prunes a node's remaining children
 * once one is invalid, since a greater value of any parameter can only raise latency. If that is not so, it may miss
 * configurations or return one that is not the cheapest; {@link ExactSearch} does not. Figure 10 has one latency and
 * one throughput: here a leaf is invalid if it violates the latency of reads or of writes, and a success if it also
 * meets both throughputs. Leaves that early termination left out are not in the tree.
 */
public final class PrunedTraversal implements Search {

    public PrunedTraversal() {}

    @Override
    public SearchResult find(PerformanceModel model, Slo slo) {
        Search.check(model, slo);
        Traversal traversal = new Traversal(model, slo);
        return traversal.traverse(0) == Status.SUCCESS
                ? SearchResult.of(model, traversal.configuration(), traversal.examined)
                : SearchResult.none(traversal.examined);
    }

    private enum Status {
        SUCCESS,
        INVALID,
        CONTINUE,
        ABSENT
    }

    private static final class Traversal {

        private static final Parameter[] LEVELS = Parameter.values();

        private final PerformanceModel model;
        private final ConfigurationSpace space;
        private final Slo slo;
        private final int[] path = new int[LEVELS.length];
        /** Null above the level of client threads. */
        private @Nullable ThreadSlice plane;

        private long examined;

        Traversal(PerformanceModel model, Slo slo) {
            this.model = model;
            this.slo = slo;
            space = model.space();
        }

        Configuration configuration() {
            return new Configuration(path[1], path[0], path[2], path[3]);
        }

        Status traverse(int depth) {
            if (depth == LEVELS.length) {
                return leaf(Objects.requireNonNull(plane));
            }
            Parameter level = LEVELS[depth];
            Status result = Status.ABSENT;
            int last = space.last(level, path[0]);
            for (int value = space.first(level, path[0]); value <= last; value++) {
                path[depth] = value;
                if (level == Parameter.CLIENT_THREADS) {
                    plane = model.plane(path[0], value);
                }
                Status child = traverse(depth + 1);
                if (child == Status.SUCCESS) {
                    return child;
                }
                if (child == Status.INVALID) {
                    return result == Status.CONTINUE ? result : Status.INVALID;
                }
                if (child == Status.CONTINUE) {
                    result = child;
                }
            }
            return result;
        }

        private Status leaf(ThreadSlice plane) {
            examined++;
            double readLatency = plane.at(Metric.READ_LATENCY, path[2], path[3]);
            if (Double.isNaN(readLatency)) {
                return Status.ABSENT;
            }
            if (readLatency > slo.reads().latencyNanos()
                    || plane.at(Metric.WRITE_LATENCY, path[2], path[3])
                            > slo.writes().latencyNanos()) {
                return Status.INVALID;
            }
            return plane.at(Metric.READS, path[2], path[3]) >= slo.reads().perSecond()
                            && plane.at(Metric.WRITES, path[2], path[3])
                                    >= slo.writes().perSecond()
                    ? Status.SUCCESS
                    : Status.CONTINUE;
        }
    }
}
