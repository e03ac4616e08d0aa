package io.farheap.kv.model;

/** The steps of one kind of operation. */
interface OperationModel {

    /** The bucket has been read. */
    void bucketRead();

    /**
     * Executes the client's next access, and what follows without another.
     *
     * @param choice a slot, or 1 or 0, if the step has more than one way to continue
     */
    void access(int choice);

    /** A step that another kind of operation has. */
    static IllegalStateException stray(ModelStep step) {
        return new IllegalStateException("step " + step);
    }
}
