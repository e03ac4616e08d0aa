package io.farheap.kv;

/** Says which object of a sample is to go. One thread. */
interface Victims {

    /**
     * The slot of a bucket's copy that is to be taken out, of those that {@link Bucket#mayEvict} allows.
     *
     * @return its number, or {@link Bucket#NONE}
     */
    int choose(long bucket);

    /** The experts that named the one that was chosen last, a bit each. */
    long experts();
}
