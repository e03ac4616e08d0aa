package io.farheap.slo;

import java.util.Arrays;

/**
 * The points of a grid in the tree's order (pre-order: server threads, client threads, batch size, queue depth), so
 * that a point comes after its predecessors: those with the next smaller level of one parameter and the same of the
 * others.
 */
final class PointOrder {

    static final int NONE = -1;

    private final MeasuredGrid grid;
    private final int[][] points;

    PointOrder(MeasuredGrid grid) {
        this.grid = grid;
        int threads = grid.threads().count();
        int servers = grid.space().serverCores() == 0 ? 0 : threads;
        int[][] all = new int[grid.points()][];
        int count = 0;
        for (int server = 0; server <= servers; server++) {
            for (int client = Math.max(0, server - 1); client < threads; client++) {
                for (int batch = 0; batch < (server == 0 ? 1 : grid.batches().count()); batch++) {
                    for (int depth = 0; depth < grid.depths().count(); depth++) {
                        all[count++] = new int[] {server, client, batch, depth};
                    }
                }
            }
        }
        points = Arrays.copyOf(all, count);
    }

    int count() {
        return points.length;
    }

    /** The grid index of the {@code i}th point. */
    int index(int i) {
        int[] point = points[i];
        return grid.index(point[0], point[1], point[2], point[3]);
    }

    Configuration configuration(int i) {
        int[] point = points[i];
        int server = point[0] == 0 ? 0 : grid.threads().get(point[0] - 1);
        return new Configuration(
                grid.threads().get(point[1]),
                server,
                grid.batches().get(point[2]),
                grid.depths().get(point[3]));
    }

    /**
     * The grid index of a point's predecessor, {@link #NONE} if it has none. One server thread is a different mechanism
     * from no server thread, and not more of the same, so it has no predecessor in that parameter.
     */
    int predecessor(int i, Parameter parameter) {
        int[] point = points[i];
        int level = parameter.ordinal();
        int lowest =
                switch (parameter) {
                    case SERVER_THREADS -> 1;
                    case CLIENT_THREADS -> Math.max(0, point[0] - 1);
                    case BATCH_SIZE, QUEUE_DEPTH -> 0;
                };
        if (point[level] <= lowest) {
            return NONE;
        }
        int[] before = point.clone();
        before[level]--;
        return grid.index(before[0], before[1], before[2], before[3]);
    }

    /**
     * The factor by which the {@code i}th point has more requests in flight than its predecessor in this parameter: the
     * ratio of their c, b or q; 1 for s, which does not change the number of requests in flight. The point must have
     * that predecessor.
     */
    double increase(int i, Parameter parameter) {
        int[] point = points[i];
        GridLevels levels =
                switch (parameter) {
                    case SERVER_THREADS -> null;
                    case CLIENT_THREADS -> grid.threads();
                    case BATCH_SIZE -> grid.batches();
                    case QUEUE_DEPTH -> grid.depths();
                };
        int level = point[parameter.ordinal()];
        return levels == null ? 1 : (double) levels.get(level) / levels.get(level - 1);
    }
}
