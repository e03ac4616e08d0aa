package io.farheap.cache;

/** How far a run of many histories is, for who waits for it: one line at each hundredth, and for each that is wrong. */
public final class HistoryProgress {

    private final long seeds;
    private final long histories;
    private final long started = System.nanoTime();
    private long ended;
    private long wrong;

    private HistoryProgress(long seeds, int ofASeed) {
        this.seeds = seeds;
        this.histories = seeds * ofASeed;
    }

    /** @return null where the property, of the histories that are wanted, is not set */
    public static HistoryProgress where(String property, int ofASeed) {
        Long wanted = Long.getLong(property);
        return wanted == null ? null : new HistoryProgress((wanted + ofASeed - 1) / ofASeed, ofASeed);
    }

    public long seeds() {
        return seeds;
    }

    /** @param fault what was wrong with it, or null */
    public synchronized void ended(String name, String fault) {
        ended++;
        if (fault != null) {
            wrong++;
            System.out.println("wrong: " + name + ": " + fault);
        }
        if (fault != null || ended * 100 / histories != (ended - 1) * 100 / histories) {
            System.out.printf(
                    "%d of %d histories, %d wrong, %.2f s each%n",
                    ended, histories, wrong, (System.nanoTime() - started) / 1e9 / ended);
        }
    }
}
