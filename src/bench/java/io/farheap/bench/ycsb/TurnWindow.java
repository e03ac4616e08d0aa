package io.farheap.bench.ycsb;

import java.util.List;

/**
 * The time of a turn, which is the same for all of its threads. If there were one for each thread, it would begin and
 * end while that thread runs: with more threads than cores their rates would add up to more than the contestant has.
 *
 * @param begin and end in the time of {@link System#nanoTime}
 */
record TurnWindow(long begin, long end) {

    /** One thread's part of the operations in the window. That thread alone. */
    final class Share {

        private long at;
        private long ended;
        private double before;
        private double within;
        private boolean over;

        /** @param now before the thread's first operation */
        Share(long now) {
            at = now;
        }

        /**
         * Adds what has ended since the last call. Operations across a bound of the window, such as those between which
         * the thread was without a core, count by their time.
         *
         * @param endedNow the operations of this thread that have ended so far
         * @return whether the thread is to continue: until the window is over, and at least one operation has ended in
         *     it or after it, since a rate of 0 cannot be compared
         */
        boolean continues(long now, long endedNow) {
            if (at - begin < 0) {
                before = endedAt(begin, now, endedNow);
            }
            if (!over) {
                within = endedAt(end, now, endedNow) - before;
                over = now - end >= 0;
            }
            at = now;
            ended = endedNow;
            return !over || ended <= before;
        }

        private double endedAt(long time, long now, long endedNow) {
            double part = now == at ? 1 : (double) (time - at) / (now - at);
            return ended + Math.clamp(part, 0, 1) * (endedNow - ended);
        }
    }

    /** Returns the operations a second of all threads, each of which has stopped. */
    double perSecond(List<Share> shares) {
        double within = 0;
        double all = 0;
        long last = end;
        for (Share share : shares) {
            within += share.within;
            all += share.ended - share.before;
            last = share.at - last > 0 ? share.at : last;
        }
        // A turn too short for a single operation is as long as it takes until one of each thread has ended.
        return within > 0 ? within * 1e9 / (end - begin) : all * 1e9 / (last - begin);
    }
}
