package io.farheap.kv.replacement;

import io.farheap.kv.policy.AccessInformation;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The adaptive replacement that maps use by default: ARC's idea (FAST '03) with Ditto's means. Objects are of two
 * kinds: seen once, or seen again. One expert evicts objects seen once, the least recently used first; the other evicts
 * objects seen again, in the order of their age divided by the root of their repeats, the greatest first. The session
 * learns not a probability but a share of the objects: if more than this share of them were seen once, the next victim
 * is one seen once, else one seen again. A regret moves the share away from the expert that evicted the object which is
 * missed now; the step is greater, the rarer that expert's entries are in the history.
 *
 * <ul>
 *   <li>An object that returns while its history entry lives has been seen again, and keeps its count.
 *   <li>The parts of the objects, and of the history entries, that were seen once are estimated from the samples.
 *   <li>The age at eviction is the scale of time. A session that has evicted nothing takes instead the greatest age in
 *       a bucket, averaged over buckets that it reads. This is a little less than the age at eviction if other sessions
 *       evict; if none does, it grows with the age of the map. A repeat within 0.07 of that scale after the insertion
 *       belongs to the same use, and does not count as seen again. An access within 0.3 of it (of that of the object's
 *       kind) after the last one writes nothing, as it would not change the choice of victims, unless it makes the
 *       object seen again.
 *   <li>Counts end at {@link #MOST_COUNTED}, so that the hottest objects cost no fetch-and-add.
 *   <li>A sample gives one victim for every {@link #OBJECTS_A_VICTIM} objects in it, rounded.
 * </ul>
 */
final class BalancedReplacement implements Replacement {

    static final int EXPERTS = 2;
    static final int ONCE = 0;
    static final int AGAIN = 1;

    /** Accesses beyond this many are not counted. */
    static final long MOST_COUNTED = 8;

    static final int OBJECTS_A_VICTIM = 64;
    /** The most objects of one sample that are considered. */
    static final int MOST_OBJECTS = 512;

    /** Fractions of the age at eviction. */
    private static final double ONE_USE = 0.07;

    private static final double FRESH = 0.3;

    /** By how many objects a regret moves the share, if both experts have the same number of entries. */
    private static final double STEP = 0.3;
    /** A batch has one regret for so many objects, if the usual size would move the share of a small map too far. */
    private static final long OBJECTS_A_REGRET = 16;
    /** After so many evictions any regret is sent, so that many sessions learn together and not each for itself. */
    private static final long EVICTIONS_AN_EXCHANGE = 32;
    /** The least part of the entries that is assumed for an expert, which bounds the step of its regret. */
    private static final double LEAST_PART = 0.01;
    /** The approximate number of objects over which an estimated part is averaged. */
    private static final double PART_OBJECTS = 640;
    /** The approximate number of evictions over which the age is averaged. */
    private static final long AGE_EVICTIONS = 500;
    /** The approximate number of buckets over which their greatest age is averaged. */
    private static final long SEEN_BUCKETS = 100;

    private static final double UNKNOWN = -1;
    /** The score of an object that was already chosen; others have 0 or more. */
    private static final double GONE = -1;

    /** Roots of the numbers of repeats. */
    private static final double[] ROOTS =
            IntStream.range(0, (int) MOST_COUNTED).mapToDouble(Math::sqrt).toArray();

    private final long objects;
    private final RegretExchange exchange;
    private double share;

    /** The part of the objects, and of the history entries, that was seen once. */
    private double onceObjects = UNKNOWN;

    private double onceEntries = UNKNOWN;
    private double evictionAge;
    private double seenAge;
    private long seen;
    private long evictions;
    private final double[] kindAges = new double[EXPERTS];
    private final long[] kindEvictions = new long[EXPERTS];
    private long evictionsAtExchange;

    // The sample: the objects of each kind in the order in which they were offered, and the expired objects.
    private final int[][] slots = new int[EXPERTS][MOST_OBJECTS];
    private final double[][] ages = new double[EXPERTS][MOST_OBJECTS];
    private final double[][] scores = new double[EXPERTS][MOST_OBJECTS];
    private final int[] offeredOf = new int[EXPERTS];
    /** By kind: objects of the sample that were not chosen yet. */
    private final int[] leftOf = new int[EXPERTS];

    private final int[] dead = new int[MOST_OBJECTS];
    private int deadCount;
    private int deadGone;
    private int offeredOnce;
    private int offered;
    private int entries;
    private int entriesOnce;
    private int left;
    private boolean counted;
    private long chosenBy;

    /** @param objects the number of objects that the map should hold, which is also the length of its history */
    BalancedReplacement(long objects) {
        if (objects < 1 || objects > HistoryIds.LONGEST) {
            throw new IllegalArgumentException("a map of " + objects + " objects; take 1 to " + HistoryIds.LONGEST);
        }
        this.objects = objects;
        long batch = Math.clamp(objects / OBJECTS_A_REGRET, 1L, (long) RegretBatch.FULL);
        exchange = new RegretExchange(EXPERTS, batch);
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.INSERT_TIME, AccessInformation.LAST_ACCESS, AccessInformation.FREQUENCY);
    }

    @Override
    public int extensionWords() {
        return 0;
    }

    private static int kind(ObjectMetadata object) {
        return object.frequency() <= 1 ? ONCE : AGAIN;
    }

    /** The age at eviction of a kind's objects, or of all objects until one of that kind has been evicted. */
    private double kindAge(int kind) {
        return kindEvictions[kind] == 0 ? age() : kindAges[kind];
    }

    private double age() {
        return evictions == 0 ? seenAge : evictionAge;
    }

    @Override
    public void seen(long age) {
        seen++;
        seenAge += ((double) age - seenAge) / (double) Math.min(SEEN_BUCKETS, seen);
    }

    @Override
    public int accessed(ObjectMetadata object) {
        boolean fresh = object.now() - object.lastAccess() < FRESH * kindAge(kind(object));
        if (object.frequency() <= 1) {
            boolean oneUse = object.now() - object.insertTime() < ONE_USE * age();
            return oneUse ? fresh ? 0 : WRITE_TIME : WRITE_TIME | COUNT_NOW;
        }
        if (fresh) {
            return 0;
        }
        return object.frequency() < MOST_COUNTED ? WRITE_TIME | COUNT : WRITE_TIME;
    }

    @Override
    public void inserted(ObjectMetadata object, boolean returned) {
        object.insertTime(object.now()).lastAccess(object.now());
        object.frequency(returned ? Math.clamp(object.frequency() + 1, 2L, MOST_COUNTED) : 1);
    }

    @Override
    public void begin() {
        offered = 0;
        offeredOnce = 0;
        offeredOf[ONCE] = 0;
        offeredOf[AGAIN] = 0;
        leftOf[ONCE] = 0;
        leftOf[AGAIN] = 0;
        deadCount = 0;
        deadGone = 0;
        entries = 0;
        entriesOnce = 0;
        left = 0;
        counted = false;
    }

    @Override
    public void offer(int slot, ObjectMetadata object) {
        if (offered == MOST_OBJECTS) {
            return;
        }
        offered++;
        long frequency = object.frequency();
        int kind = frequency <= 1 ? ONCE : AGAIN;
        offeredOnce += kind == ONCE ? 1 : 0;
        if (object.expired()) {
            dead[deadCount++] = slot;
            return;
        }
        double age = (double) Math.max(0, object.now() - object.lastAccess());
        int at = offeredOf[kind]++;
        leftOf[kind]++;
        slots[kind][at] = slot;
        ages[kind][at] = age;
        // The root of 1 is 1.
        scores[kind][at] = frequency <= 2 ? age : age / ROOTS[(int) Math.min(frequency - 1, MOST_COUNTED - 1)];
    }

    @Override
    public void offerHistory(long counter, long entry, long experts) {
        if (!HistoryIds.expired(counter, entry, objects)) {
            entries++;
            entriesOnce += (int) (experts >>> ONCE & 1);
        }
    }

    @Override
    public int choose() {
        if (!counted) {
            count();
        }
        if (left == 0) {
            return NONE;
        }
        left--;
        if (deadGone < deadCount) {
            chosenBy = 0;
            return dead[deadGone++];
        }
        int wanted = onceObjects > share ? ONCE : AGAIN;
        int kind = leftOf[wanted] > 0 ? wanted : 1 - wanted;
        int victim = greatest(scores[kind], offeredOf[kind]);
        int slot = slots[kind][victim];
        chosenBy = 1L << kind;
        went(kind, ages[kind][victim]);
        scores[kind][victim] = GONE;
        leftOf[kind]--;
        return slot;
    }

    /** The index of the first greatest value. */
    private static int greatest(double[] of, int count) {
        int greatest = 0;
        double most = of[0];
        for (int i = 1; i < count; i++) {
            if (of[i] > most) {
                most = of[i];
                greatest = i;
            }
        }
        return greatest;
    }

    private void went(int kind, double age) {
        evictions++;
        evictionAge += (age - evictionAge) / (double) Math.min(AGE_EVICTIONS, evictions);
        kindEvictions[kind]++;
        kindAges[kind] += (age - kindAges[kind]) / (double) Math.min(AGE_EVICTIONS, kindEvictions[kind]);
    }

    /** Updates the estimates with the sample. */
    private void count() {
        counted = true;
        onceObjects = average(onceObjects, offeredOnce, offered);
        onceEntries = average(onceEntries, entriesOnce, entries);
        left = offered == 0 ? 0 : Math.max(1, (offered + OBJECTS_A_VICTIM / 2) / OBJECTS_A_VICTIM);
    }

    private static double average(double before, int some, int all) {
        if (all == 0) {
            return before;
        }
        double part = (double) some / all;
        return before == UNKNOWN ? part : before + Math.min(1, all / PART_OBJECTS) * (part - before);
    }

    @Override
    public long experts() {
        return chosenBy;
    }

    @Override
    public boolean missed(long counter, long entry, long experts) {
        if (HistoryIds.expired(counter, entry, objects)) {
            return false;
        }
        double once = onceEntries == UNKNOWN ? 0.5 : Math.clamp(onceEntries, LEAST_PART, 1 - LEAST_PART);
        if ((experts >>> ONCE & 1) != 0) {
            move(1L << ONCE, (1 - once) / once);
        } else if ((experts >>> AGAIN & 1) != 0) {
            move(1L << AGAIN, once / (1 - once));
        }
        return true;
    }

    private void move(long expert, double others) {
        double step = Math.min(1, STEP * Math.max(1, others) / (double) objects);
        exchange.add(expert, step);
        share = Math.clamp(share + (expert == 1L << ONCE ? step : -step), 0.0, 1.0);
    }

    /** The share after the given sums of steps away from each expert. */
    static double moved(double share, double[] steps) {
        return Math.clamp(share + steps[ONCE] - steps[AGAIN], 0.0, 1.0);
    }

    @Override
    public double weight(int expert) {
        return expert == ONCE ? share : 1 - share;
    }

    @Override
    public int words() {
        return RegretBatch.words(EXPERTS);
    }

    @Override
    public boolean due() {
        return exchange.due() || evictions - evictionsAtExchange >= EVICTIONS_AN_EXCHANGE && exchange.isDue(1);
    }

    @Override
    public void send(long[] words) {
        exchange.send(words);
        evictionsAtExchange = evictions;
    }

    @Override
    public void answered(long[] words) {
        exchange.ended();
        double said = Double.longBitsToDouble(words[ONCE]);
        if (!(said >= 0 && said <= 1)) {
            throw new IllegalArgumentException("a share of " + said + "; it is 0 to 1");
        }
        share = moved(said, exchange.since());
    }

    @Override
    public void lost() {
        exchange.ended();
    }
}
