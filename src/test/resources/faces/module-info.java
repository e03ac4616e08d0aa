module faces {
    requires io.farheap;
    requires micrometer.core;
}
