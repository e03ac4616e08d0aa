package io.farheap.cache;

/** Prints the progress of a run of many histories: a line at each hundredth, and one for each wrong history. */
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

    /** @return null if the property, which has the number of wanted histories, is not set */
    public static HistoryProgress where(String property, int ofASeed) {
        Long wanted = Long.getLong(property);
        return wanted == null ? null : new HistoryProgress((wanted + ofASeed - 1) / ofASeed, ofASeed);
    }

    public long seeds() {
        return seeds;
    }

    /** @param fault the fault of the history that has ended, or null */
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
