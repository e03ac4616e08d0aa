package io.farheap.cache.managed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.managed.ManagedModels.ModelWorkload;
import io.farheap.manager.StoredModel;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The choice of a cache among the models of its manager. */
class ManagedModelsTest {

    private static final String DEVICE = "mlx5_0 (system)";
    private static final String HERE = "a processor, 4 cores";

    private static PerformanceModel model(String device, String hardware, int switches, int recordBytes) {
        MeasurementPlan plan = new MeasurementPlan(new ModelSubject(device, hardware, switches, recordBytes, 50, 1, 2));
        while (!plan.complete()) {
            plan.next();
            plan.record(new Performance(1000, 1e5, 1000, 1e5));
        }
        return plan.model();
    }

    private static String refusal(List<PerformanceModel> kept, ModelWorkload workload) {
        return assertThrows(CacheException.class, () -> ManagedModels.choose(kept, DEVICE, HERE, workload))
                .getMessage();
    }

    @Test
    void thoseOfTheDeviceAtEachDistanceAreTaken() {
        PerformanceModel one = model(DEVICE, HERE, 1, 4096);
        PerformanceModel three = model(DEVICE + ", slow", HERE, 3, 4096);
        PerformanceModel other = model("mlx5_0 (system)x", HERE, 3, 4096);
        assertEquals(List.of(one, three), ManagedModels.choose(List.of(one, other, three), DEVICE, HERE, null));
    }

    @Test
    void thoseOfThisHardwareAreTakenWhereThereAreAny() {
        PerformanceModel here = model(DEVICE, HERE, 1, 4096);
        PerformanceModel there = model(DEVICE, "another", 1, 4096);
        assertEquals(List.of(here), ManagedModels.choose(List.of(there, here), DEVICE, HERE, null));
        assertEquals(List.of(there), ManagedModels.choose(List.of(there), DEVICE, HERE, null));
    }

    @Test
    void oneOfAnotherReleasesFormatIsPassedOver(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("model");
        try (ModelFile model = ModelFile.open(file, new ModelSubject(DEVICE, HERE, 1, 4096, 50, 1, 2))) {
            while (!model.plan().complete()) {
                model.plan().next();
                model.record(new Performance(1000, 1e5, 1000, 1e5));
            }
        }
        String text = Files.readString(file);
        StoredModel good = StoredModel.of(text);
        StoredModel old = new StoredModel(good.key(), text.replaceFirst("\\d+", "3"));
        assertEquals(1, ManagedModels.readable(List.of(old, good)).size());
        assertEquals(List.of(), ManagedModels.readable(List.of()));
        String none = assertThrows(IllegalArgumentException.class, () -> ManagedModels.readable(List.of(old)))
                .getMessage();
        assertTrue(none.startsWith("none of the manager's 1 models can be read: "), none);
    }

    @Test
    void whereThereIsNoneTheSentenceSaysHowToPutOne() {
        String none = refusal(List.of(), null);
        assertTrue(none.contains(DEVICE) && none.contains("farheap model put FILE --manager"), none);
        String another = refusal(List.of(model("soft0 (soft)", HERE, 1, 4096)), null);
        assertTrue(another.contains("but of soft0 (soft); measure one"), another);
    }

    @Test
    void ofSeveralLoadsOneHasToBeNamed() {
        PerformanceModel small = model(DEVICE, HERE, 1, 8);
        PerformanceModel large = model(DEVICE, HERE, 1, 4096);
        List<PerformanceModel> both = List.of(small, large);
        String which = refusal(both, null);
        assertTrue(
                which.contains("records of 4096 bytes, 50% reads; for records of 8 bytes, 50% reads; name the"), which);
        assertEquals(List.of(large), ManagedModels.choose(both, DEVICE, HERE, new ModelWorkload(4096, 50)));
        String missing = refusal(both, new ModelWorkload(64, 50));
        assertTrue(missing.contains("for records of 64 bytes, 50% reads, but for records of 4096"), missing);
    }
}
