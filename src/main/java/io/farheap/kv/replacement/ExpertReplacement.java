package io.farheap.kv.replacement;

import io.farheap.kv.policy.AccessInformation;
import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.ObjectMetadata;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Replacement as in Ditto's section 4.3: any policies as experts, and one victim per sample, chosen by weights that are
 * learned from regrets. With one expert it is that policy alone. An object that returns counts as new.
 */
final class ExpertReplacement implements Replacement {

    private final Set<AccessInformation> needs;
    private final VictimChoice sample;
    private final LearnedWeights weights;
    private final SplittableRandom random;
    private final int writes;
    private boolean chosen;

    /** @param objects the number of objects that the map should hold, which is also the length of its history */
    ExpertReplacement(List<EvictionPolicy> policies, long objects, long seed) {
        sample = new VictimChoice(policies);
        weights = new LearnedWeights(policies.size(), objects);
        random = new SplittableRandom(seed);
        needs = policies.stream().flatMap(policy -> policy.needs().stream()).collect(Collectors.toUnmodifiableSet());
        writes = (needs.contains(AccessInformation.LAST_ACCESS) ? WRITE_TIME : 0)
                | (needs.contains(AccessInformation.FREQUENCY) ? COUNT : 0)
                | (sample.extensionWords() > 0 ? WRITE_EXTENSION : 0);
    }

    @Override
    public Set<AccessInformation> needs() {
        return needs;
    }

    @Override
    public int extensionWords() {
        return sample.extensionWords();
    }

    @Override
    public int accessed(ObjectMetadata object) {
        sample.update(object);
        return writes;
    }

    @Override
    public void inserted(ObjectMetadata object, boolean returned) {
        object.insertTime(object.now()).lastAccess(object.now()).frequency(0);
        for (int word = 0; word < sample.extensionWords(); word++) {
            object.extension(word, 0);
        }
        sample.update(object);
        object.frequency(1);
    }

    @Override
    public void begin() {
        sample.begin();
        chosen = false;
    }

    @Override
    public void offer(int slot, ObjectMetadata object) {
        sample.offer(slot, object);
    }

    @Override
    public void offerHistory(long counter, long entry, long experts) {}

    @Override
    public int choose() {
        if (chosen) {
            return NONE;
        }
        chosen = true;
        int slot = sample.choose(weights.weights(), random);
        sample.evicted();
        return slot;
    }

    @Override
    public long experts() {
        return sample.experts();
    }

    @Override
    public boolean missed(long counter, long entry, long experts) {
        return weights.missed(counter, entry, experts);
    }

    @Override
    public int words() {
        return RegretBatch.words(weights.weights().experts());
    }

    @Override
    public boolean due() {
        return weights.due();
    }

    @Override
    public void send(long[] words) {
        weights.send(words);
    }

    @Override
    public void answered(long[] words) {
        weights.answered(words);
    }

    @Override
    public void lost() {
        weights.lost();
    }

    @Override
    public double weight(int expert) {
        return weights.weights().weight(expert);
    }
}
