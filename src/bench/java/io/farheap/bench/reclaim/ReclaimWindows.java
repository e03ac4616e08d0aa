package io.farheap.bench.reclaim;

import io.farheap.bench.report.Rotation;

/** The windows of a turn, in an order that rotates, and the spare server before and after its reclaim. */
final class ReclaimWindows {

    /** What a turn consists of. */
    interface Steps {

        /** Runs a window. */
        void window(int number);

        /** Starts a server for bare migrations, after the one before has taken a reclaim's regions. */
        void startSpare();

        /** Gives the spare server's lease back, so that it is free for the next reclaim. */
        void leaveSpare();

        /** Runs windows during which the same servers stay, and judges the device's model. */
        void judge(Runnable windows);
    }

    private final Rotation rotation;

    /** @param turns that count */
    ReclaimWindows(int turns) {
        rotation = new Rotation(ReclaimBench.WINDOWS, turns);
    }

    /**
     * Takes a turn.
     *
     * @param turn negative in the warm-up
     * @param moves whether the reclaim moves regions, and so takes the spare server
     */
    void take(int turn, boolean moves, Steps steps) {
        int[] order = rotation.order(turn);
        int after = order.length;
        for (int place = 0; moves && place < order.length; place++) {
            if (order[place] == ReclaimBench.RECLAIM) {
                after = place + 1;
            }
        }
        int first = after;
        // The spare server copies the regions, and has them after the reclaim.
        steps.judge(() -> {
            for (int place = 0; place < first; place++) {
                if (moves && order[place] == ReclaimBench.RECLAIM) {
                    steps.leaveSpare();
                }
                steps.window(order[place]);
            }
        });
        if (first < order.length) {
            steps.startSpare();
            steps.judge(() -> {
                for (int place = first; place < order.length; place++) {
                    steps.window(order[place]);
                }
            });
            steps.leaveSpare();
        }
    }
}
