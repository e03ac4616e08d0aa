package io.farheap.kv.policy;

import java.util.Set;

/** GreedyDual-Size (Cao and Irani, USITS '97): the cheapest a unit goes, aged ({@link Aging}). */
final class Gds extends Aging {

    @Override
    double worth(Metadata object) {
        return object.cost() / object.size();
    }

    @Override
    public Set<Information> needs() {
        return Set.of(Information.SIZE, Information.COST, Information.EXTENSION);
    }
}
