module adcap.example/selection

go 1.21
