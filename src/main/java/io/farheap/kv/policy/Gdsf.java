package io.farheap.kv.policy;

import java.util.Set;

/** GreedyDual-Size with frequency (Cherkasova, 1998), aged ({@link Aging}). */
final class Gdsf extends Aging {

    @Override
    double worth(Metadata object) {
        return object.frequency() * object.cost() / object.size();
    }

    @Override
    public Set<Information> needs() {
        return Set.of(Information.FREQUENCY, Information.SIZE, Information.COST, Information.EXTENSION);
    }
}
